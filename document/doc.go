// Package document parses the one document of a YAML file that somebody else wrote.
//
// The parser takes time and memory with the square of some things that a short file can have many of. They are
// counted before it begins, and bounded: a file of the greatest size that is let through takes a second or two, and less than a gigabyte.
package document
