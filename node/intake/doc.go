// Package intake decides which of the attempts that several owners offer at nearly the same time a node takes, where it
// has not room for all of them: those that are worth most together, not those that come first.
//
// An owner polls a node before it offers it an attempt. So a node knows from the polls that it has answered who may
// offer one soon. An offer opens a [Window] if it fits what is free, and what those who have asked may want would not
// fit beside it. The window gathers the offers that come, and closes when all who asked have offered, or after
// [Config.Longest] at most. Then a knapsack over what is free, with a utility function, says which are taken. The
// others are refused with the prices of the knapsack and what is left, so that their owners can choose another node, or
// a smaller option of the job.
//
// Only jobs with options are gathered: their tasks have another way to run. What is offered alone, fits beside what
// others want, does not fit what is free, or is of a job without options is decided at once, and so is everything while
// work waits here. So a window costs nothing to those who cannot gain by it. A task is refused so once: when it is
// offered again it is queued like any other.
//
// Invariant: each offer that is gathered fits what is free at the time, and is decided by the close of the window. What
// is decided includes an offer if there is one that still fits, so no slot is idle for longer than a window while an
// offer for it is gathered.
//
// The package has no clock and no chance. What owners say of their offers is bounded by who reads it off the wire; what
// it counts for here is bounded too, see [Facts].
package intake
