// Package rounds gives the gangs that a node places their turns: one asks for slots at a time, so that they do not take
// them from each other. Each round has a number, above all that workers may remember of an earlier run of the node.
//
// Invariants: the gang whose turn it is and those that wait for a turn are among the gangs known; a gang waits only
// while it is the turn of another one.
package rounds
