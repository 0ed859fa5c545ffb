// Package audit keeps on a node, in order, what others have done with its jobs and to it: when, who, what, and what
// came of it.
//
// It is a file in the data folder to which a line of JSON is appended for each act. A file that is full becomes the
// first of the former ones, of which the oldest goes: so the disk that it takes is bounded whatever others do. How
// many lines one node may cause is bounded by the caller. Nothing is ever changed in a line; who has the data
// folder can do so.
package audit
