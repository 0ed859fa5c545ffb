// Package demo shows a grid at work on one machine: it starts five nodes of different speed and fitness as child
// processes, gives the same tasks to them twice, first each to run where it was submitted and then placed by the grid,
// and prints where each ran and what that saved. The nodes end with the demonstration, and nothing of it stays.
package demo
