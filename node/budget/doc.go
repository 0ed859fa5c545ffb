// Package budget counts what the attempts of a job with a budget ([grid.Budget]) have used: the sum of the times that
// they run, of a gang of all its ranks, also of attempts that are lost and of backup attempts.
//
// The job's owner alone keeps the account ([Account]), by its own clock: an attempt uses its node from when it was last
// known to wait there until it brings a result, which says exactly how long it ran, or is given up. What an attempt is
// expected to take is reserved while it is out, so that none is started which the rest of the budget cannot pay, as far
// as is known.
//
// The sum is an entry of the job's register of its own ([Account.Settle]): a restarted or a new owner goes on with it.
// It is written whenever it has grown by a share of the budget, so what a takeover forgets is bounded by that share and
// by what lost attempts used while the job had no owner.
//
// A budget that is used up is recorded as a cancellation of the job that says why: see DESIGN.md of package
// coordinator.
package budget
