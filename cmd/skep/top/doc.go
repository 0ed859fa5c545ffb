// Package top is the live view of a grid in a terminal: its nodes and its jobs, with keys to read a job's output, to
// have it explained and to cancel it.
//
// The view is a value that messages change (Model), so that a test drives it without a terminal or a clock; Run joins
// it to a terminal, whose renderer writes only what has changed. Nodes and the jobs of the asked node are requested
// each second, the jobs of the grid each 5 seconds, one request of each kind at a time. While the node does not answer,
// what it answered last is shown, and how old that is.
package top
