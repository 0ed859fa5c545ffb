// Package pages asks the operating system for large pages for the heap of large worlds.
//
// The nodes of a world come in no order: each event wakes another one, whose state lies in dozens of places. With pages
// of 4 KiB a heap of some gigabytes has more pages than a processor remembers the places of, so that nearly every first
// look at a node is a walk through the page table. Where Linux gives large pages to those who ask, which is how most
// distributions set it up, nobody asks for Go's heap.
package pages
