// Package quota bounds what a node keeps for others: for each node that jobs come from, and for each that sends them.
//
// [Accounts] has two for whatever is kept: of the node that sent it, and of the job's origin for what the origin
// sends itself. What is to be kept is admitted before anything is saved or allocated for it, and given back when it is
// forgotten. Jobs that are over count on, but make room for new ones of the same account, oldest first; those that are
// not over are never given up.
package quota
