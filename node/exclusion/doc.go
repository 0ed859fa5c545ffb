// Package exclusion keeps, for one task, the nodes that do not get it: those that refused it, lost it or could not run
// it; those that moved it to another class; and those for which it was taken from a queue in vain. An exclusion ends by
// itself; where other nodes are only preferred, it holds as long as there is one.
package exclusion
