// Package deposit keeps the content of files where a job's register is. The register names files by hash: the job's
// inputs, and what the attempts of its tasks left. Whoever takes the job over needs the files themselves, so the
// register's members store them for its owner: a file stored for a job that was submitted elsewhere is a deposit.
// [Files] are those of one job.
//
// The owner asks each member that has the job to store a set of files, again until it is answered ([Store.Ask]). A
// submission waits until a majority of the members has the inputs, a task's end until a majority has the outputs:
// whatever majority can be formed later, one of it has them. It goes on without if no majority can have them, or not in
// time, and says so in an error ([Files.Finish], [Files.InputsAtRisk]).
//
// A member fetches what it is asked for. It tells the owner that it has the files once that is on disk, and they are
// pinned by this record until the job is forgotten or another attempt's end is in the register ([Store.Match]).
// [Store] is who is charged for it and what is under way. Owners are not trusted: what they name is bounded before it
// is fetched.
//
//   - All deposits together take at most the quota, those charged to one node at most half of it.
//   - A job's inputs, or the outputs of one task, take at most the limit, and each file at least a block.
//   - At most 1,024 transfers charged to one node are under way. A transfer is charged until it ends, wanted or not.
//   - With a full disk nothing is fetched.
//
// A job is charged to its owner at the time of its first deposit, and stays so. Jobs that have ended make room for
// others, oldest first; those that go on never do.
//
// Nothing here calls its caller. Messages and fetches are appended to the effects; records to be saved and jobs to be
// forgotten are fetched with [Store.NextChange]. ../coordinator/DESIGN.md has the protocol and its reasons.
package deposit
