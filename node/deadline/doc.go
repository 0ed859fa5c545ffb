// Package deadline judges what can be of worth to a job with a deadline ([grid.Deadline]): when its tasks would
// end at the earliest ([Earliest]), whether one would end in time ([Left]), and which deadlines are over ([Watch]).
//
// A deadline is kept by the job's owner alone, by its own clock: the time of submission is an age on the wire and a
// wall time on disk, so a restart or a takeover moves nothing. Whether a task would be late is judged when it is
// offered, by the expected completion time on which the choice of its worker rests, without a safety margin: as a
// market's matcher judges it (now + size/speed ≤ deadline). What is not known to be late is tried: also an attempt that
// begins from a checkpoint, and a gang of one of several sizes, of which the class's mean run time does not tell.
//
// A deadline that is over is recorded as a cancellation of the job that says why: see DESIGN.md of package coordinator.
package deadline
