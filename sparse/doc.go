// Package sparse holds containers that take little memory while little is in them: most nodes of a large grid never
// fill theirs.
//
// [List] is a list of a fixed, perhaps large length that takes memory only for what was written: a radix tree of two
// levels, a trunk of branches, each with the leaves for a run of indices. A list of at most one leaf is that leaf.
//
// [Map] is a map that is a slice while it is small.
package sparse
