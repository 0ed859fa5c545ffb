// Package document reads the one document of a YAML file that somebody else wrote.
//
// A [Reader] takes values out of it and collects what is wrong with them, all at once and with line and column. The
// values that files and flags have in common (cores, sizes, lengths of time) are parsed here, so that they are the same
// everywhere.
//
// The parser takes time and memory with the square of some things that a short file can have many of. They are
// counted before it begins, and bounded: a file of the greatest size that is let through takes a second or two, and
// less than a gigabyte.
package document
