// Package decisions keeps what the newest placement decisions of a node weighed, for `skep job explain`: the nodes
// considered, what each was expected to take, and why one of them was chosen.
//
// While a task is decided, [Candidates] hold the nodes that it could go to, as known without a poll. The decision is
// packed into a [Log] of bounded size. Nothing here is written to disk, and nothing is decided by it.
package decisions
