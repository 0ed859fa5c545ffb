// Package collector sets the target of the garbage collector by the size of the heap.
package collector
