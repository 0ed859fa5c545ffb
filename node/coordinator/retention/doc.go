// Package retention decides which of the jobs that are over a node still keeps. The operator bounds their number, the
// time since they ended, and the bytes of the files that they alone hold ([Bounds]); the oldest ends go first.
//
// [Groups] are the jobs that were submitted at the node, and those that it keeps for others, each with the bounds for
// itself: no peer has a node let go of its own jobs.
//
// [Jobs] has each job of a group that the node knows: those that go on, for what they still need of others, and those
// that are over, in the order of their ends. It says which one is to go next and by which bound ([Jobs.Next]); whoever
// keeps the jobs forgets it, or sets it aside for a while ([Jobs.SetAside]) if somebody still waits for it. Its
// invariants:
//
//   - a job that is over is in the order of ends or set aside, a job that goes on in neither;
//   - nothing goes within the grace after its end, or after the node's start. A job that a node keeps alone leaves
//     nothing behind, and who repeats its submission would run it again;
//   - the newest end goes neither by number nor by bytes: a job larger than the bound can still be fetched;
//   - a job goes by bytes only if it holds files.
//
// Files are counted once, by content, and only while no job that goes on has them as inputs: to let a job go that
// shares them would free nothing. What a job that goes on has printed and made so far counts from its end on.
//
// An age is counted on the clock of the node's run, which nobody sets. What was before the run is what the record of
// the end and the wall clock say at the start: never less than nothing, and of each time in which the node did not run
// a day at most ([Gap]). So a clock that is years ahead at a start, or was years behind in an earlier run, adds a day
// to ages.
//
// What has gone is remembered for a while, so that who asks for it is told why ([Gone]).
package retention
