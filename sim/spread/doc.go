// Package spread measures how news spreads: the gossips of many nodes on an overlay that stays as it is, with loads
// that change by themselves, and nothing else of a node.
//
// The central idea is that the rules are those of package gossip, run by its own code, while all around them is
// held still: who is whose neighbour, and that nothing is lost. So a run of thousands of nodes costs seconds,
// and what differs between two runs is the rule. What the rules are worth to tasks is measured on the whole
// node, by package sim/net.
//
// Errors are of the share of a node's cores that are taken, 0 to 1, between what a view says and what is.
package spread
