// Package mutants lists faults that somebody could make in what a node does, in the policies and in the simulators,
// each with the test that finds it, and makes them: a test that no fault fails proves nothing.
//
// [All] names for each fault the file, the text that it takes away, what it puts there and the test, of the file's own
// package. The test of this package holds the list against the files. With -mutants it also runs each
// test on a copy of its file with the fault in it, which go test takes by -overlay, and wants the test to fail.
package mutants
