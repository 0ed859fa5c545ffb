// Package document parses the one document of a YAML file that somebody else wrote.
//
// The parser takes time and memory with the square of some things that a short file can have many of. They are
// counted before it begins, and bounded: what of a megabyte is let through is parsed in a second or two.
package document
