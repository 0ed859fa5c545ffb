// Package progress reads what a task says of its progress.
//
// The task writes lines to a FIFO, whose path it finds in a variable. The node opens the FIFO for reading and writing
// before the task starts and holds it until nothing of the task is left, so that no program of the task waits for it to
// be opened, or is ended by SIGPIPE when it writes. The node reads on whatever comes: a program that writes more than
// is looked at in a second is not slowed down, and loses what is too much.
//
// A line is
//
//	progress DONE TOTAL [TEXT]
//
// with numbers in decimal notation, a TOTAL of 0 if it is not known, or
//
//	checkpoint K
//
// with a whole number that is greater than in all such lines before: the files of checkpoint K are closed (package
// exec/checkpoint). All else is counted and dropped.
package progress
