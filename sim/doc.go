// Package sim runs whole grids in virtual time: any number of nodes, each the real [node.Node], on a
// modelled network, with modelled machines, disks and faults.
//
// The central idea is that a node is a pure state machine, so a simulator is only another driver of it:
// a queue of events ordered by time, a table of nodes, and models that turn the effects of a step into
// later events. One goroutine, no sleeping, chance from seeds alone: the same [Config] gives the same
// run to the last effect, which the run's [Report.Digest] proves. What must never happen is checked at
// every event, what must happen in the end is checked after the faults have healed, and a failure says
// the one command that repeats it.
package sim
