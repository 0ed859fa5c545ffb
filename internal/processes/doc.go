// Package processes runs the binary of a test as the ranks of a parallel program, one process each, over loopback.
package processes
