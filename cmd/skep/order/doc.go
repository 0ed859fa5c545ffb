// Package order reads what a job file or the command line says of the other jobs that a job waits for, and finds them:
// by an ID, the beginning of one, last, or a name.
package order
