// Package arrays reads what a job file or the command line says of a job's tasks: indices, the lines of a file, and a
// matrix of variables. There is a task for each combination.
//
// The node expands what a task is to run, so that a job of any number of tasks is one specification. Here is what the
// submitter alone can do: read the lines, find the input files that the values name, and check what the values make of
// the patterns of outputs.
package arrays
