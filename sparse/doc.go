// Package sparse holds a list of a fixed, perhaps large length of which memory is taken only for what was written.
//
// It is a radix tree of two levels: a trunk of branches, of which each has the leaves for a run of indices. Who names a length names a
// number; what costs memory is to write. A list of no more than one leaf is that leaf.
package sparse
