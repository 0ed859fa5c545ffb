// Package indices is a set of numbers as people write it: 0-9,12,20-30:2.
//
// A [Set] is a list of ranges and not of numbers, so that a set of a hundred thousand is as short in memory and on the
// wire as it is on the command line. Its order is that in which it was written.
package indices
