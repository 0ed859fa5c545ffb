// Package migration decides whether a task that has started goes on at another node from its newest checkpoint: one
// that is suspended there for a higher bid (protocol PE-P of [1]), or one that would merely be done sooner elsewhere
// (PE-A). It is the owner's side, and mathematics: what is known comes as numbers, and the owner carries out the
// verdict.
//
//	suspended ── its worker's beat says so ──► weighed ── not worth it ──► looked at again later
//	    ▲                                         │ a node would be done sooner by more than the move costs
//	    └── it goes on there: a beat ────────── asked: its worker is to give it up
//	                                              │ that is on its disk, and nothing of it runs any more
//	                                              ▼
//	                           placed again, with the next attempt, from its checkpoint
//
// Sources, cited by number in this package:
//
//	[1] J. M. Gomoluch, Market protocols for computational clusters and Grids, PhD thesis, City University London, 2004,
//	    section 6.5.8.
package migration
