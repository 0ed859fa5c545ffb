// Package machine measures the machine that a node runs on: what tasks may take of it, how fast a core is, which labels
// it has, how much of its cores others leave, and for how much of the time the node is up.
package machine
