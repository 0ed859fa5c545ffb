// Package deposit keeps the content of files where a job's register is. The register names files by hash: the job's
// inputs, and what the attempts of its tasks left. Whoever takes the job over needs the files themselves, so the
// register's members store them for its owner: a file stored for a job that was submitted elsewhere is a deposit.
//
// [Store] is the member's side: what is stored here, what is under way, and who is charged for it. Owners are not
// trusted, so everything is bounded by what they name, before anything is fetched:
//
//   - all deposits together take at most the quota, those charged to one node at most half of it;
//   - a job's inputs, or the outputs of one task, take at most the limit, and each file at least a block;
//   - at most 1,024 transfers charged to one node are under way, and a transfer is charged until it ends, wanted or not;
//   - with a full disk nothing is fetched.
//
// A job is charged to its owner at the time of its first deposit, and stays so. Jobs that have ended make room for
// others, oldest first; those that go on never do.
//
// Files say nothing by their arrival alone: what is stored here is told to the owner once it is on disk, and pinned by
// that record until the job is forgotten or another attempt's end is in the register ([Store.Match]).
//
// Nothing here calls its caller. Messages and fetches are appended to the effects; records to be saved and jobs to be
// forgotten are fetched with [Store.NextChange]. ../DESIGN.md has the protocol and its reasons.
package deposit
