// Package bulk ends many tasks of jobs in batches: all unreported tasks of a job that may run at most once, or all
// unended tasks of a cancelled job, after a takeover. A job of 100,000 tasks costs its submitter one small message, so
// its tasks end in batches, and only as far as the quota has room for their entries (package quota).
//
// Invariants: no more than Batch tasks, of all jobs together, end in one step; a job whose end was cut short by that is
// queued, once, and a wake is due while any is; tasks end in the order of their indices, each once.
package bulk
