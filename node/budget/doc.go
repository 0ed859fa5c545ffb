// Package budget counts what the attempts of a job with a budget ([grid.Budget]) have used: the sum of the times that
// they run, of a gang of all its ranks, also of attempts that are lost and of backup attempts.
//
// The job's owner alone keeps the account ([Account]), by its own clock: an attempt uses its node from when it was last
// known to wait there until it brings a result, which says exactly how long it ran, or is given up. What an attempt is
// expected to take, or has taken if that is more, is reserved while it is out, so that none is started which the rest
// of the budget cannot pay, as far as is known.
//
// Which attempts are out the account never concludes from what it is told of one: it asks the owner ([Attempts]) about
// each task of which something has changed, before the owner decides anything else. So one that was refused, handed
// back, lost or cancelled is reserved no longer than the step in which that became known.
//
// An owner that was stopped for a while, as one whose machine slept, knows of attempts that may have ended long ago. It
// judges them two looks later, when their workers have said what they still have and repeated what has ended. One that
// is stopped again before that, and finds the budget used up each time, judges at the third look. Meanwhile all that
// ran counts as if it ran on, and it starts only what the rest of the budget pays even so.
//
// The sum is an entry of the job's register of its own ([Account.Settle]): a restarted or a new owner goes on with it.
// It is written whenever it has grown by a share of the budget, so what a takeover forgets is bounded by that share and
// by what lost attempts used while the job had no owner.
//
// A budget that is used up is recorded as a cancellation of the job that says why: see DESIGN.md of package
// coordinator.
package budget
