// Package reservation is the slots that a worker keeps for ranks of gangs before these are offered.
//
// An owner asks several workers for slots at once ([Table.Asked]). A worker keeps all that are asked for, or none, and
// says so. What is kept is taken in the ledger, so no other work gets it. The offer of a rank takes its slot over
// ([Table.Take]); what is not offered within the time to live is free again ([Table.Expire]).
//
// Who goes first: gangs stand in line by their age, as their owners said when this worker first heard of them, then by
// the identity of their jobs. By the time of the first question alone workers would disagree, since each gang asks some
// of them, and no gang would be the first at all of its own. An age counts up to a day; until then workers agree,
// whenever they first heard of a gang. An owner that says too much gains its own place in line, and no slots beyond the
// bounds below. Where the free slots do not do, an older gang takes those of younger ones of which nothing is offered
// yet, whose owners are told (wound), and a younger gang is refused and told who holds them. Owners hold nothing while
// they wait: one that is refused or wounded anywhere gives up all that it has (wound-wait, [1]). So there is no circle
// of gangs that wait for each other.
//
//	                   asked: all fit, or do once younger gangs give way
//	(none) ─────────────────────────────────────────────────────────► kept ── offers ──► used up: forgotten
//	   │   asked for later: some fit     filled                         │
//	   ├───────────────────────────► filling ───────────────────────────┤
//	   │                                │                               │
//	   └──────◄── refused ──────────────┴── released, wounded, expired ─┘
//
// A gang that fails often asks for slots later: as slots become free it gets them, until it has all or its time is
// over (filling). Meanwhile queued tasks that end in time use them ([Table.Lend]).
//
// Hand-over. A gang that is refused asks again after a random pause. So that the slots of a gang which is over do
// not go to queued tasks meanwhile, owners in line are told when nobody keeps slots here any more
// ([grid.WhyHandOver]): when a gang has started, so that the next one keeps what becomes free while it runs, when it
// has ended, and when the last slots that were kept have been so in vain. The first in line is told too if a younger
// gang begins to fill. Each is a hint of one message, to four owners at most, about the first gang of each. What it
// makes of that is the owner's affair (package gangs).
//
// Bounds. What an owner does here counts for the node that asks, whatever job it names. Each may have one gang here
// at a time. A gang that kept slots for some time without using them is followed by as long a time in which that
// owner gets none, while others want some: an owner that only reserves has the node for half of the time at most. If
// the gang had taken slots of younger ones this rest is longer each time, until it is a time to live: an owner that
// only takes slots from others does so once in that. Later slots are refused during a rest in any case: tasks that
// wait for them at other nodes are not known here. The owners and the gangs that are remembered are bounded, and so
// is the time to live.
//
// Sources:
//
//	[1] D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis, System level concurrency control for distributed database
//	    systems, ACM Transactions on Database Systems 3(2), 1978: the wound-wait rule.
package reservation
