// Package testnet runs whole grids of real nodes on one machine, each with a data folder of its own: as containers
// with their own addresses where a Docker engine answers, as processes on loopback elsewhere. It kills, stops, pauses,
// cuts off and slows them down, and drives a grid through random faults while it checks that nothing is lost.
//
// A testnet is a folder. It holds what was asked for, the nodes' data folders and their logs. Nothing that runs is
// known from memory: a process is recognised by a variable in its environment, a container by its labels, so that what
// an interrupted Up left behind is found and removed as well.
package testnet
