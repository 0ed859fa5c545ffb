// Package digests compares what simulated worlds did with what a file says that they did before: a change that is to
// alter nothing alters no digest. It is for tests alone.
//
// A digest is of every event and effect of a world, floating-point numbers among them, so the file holds for one Go
// version and one level of one architecture: the compiler may join a multiplication and an addition on some. Elsewhere
// nothing is compared. SKEP_DIGESTS=write makes the file anew from the tests that run.
package digests
