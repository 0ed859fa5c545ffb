// Package inbox is the way into a node's loop: a bounded queue of events, and of functions to call between two steps.
//
// Any goroutine may put something in, and waits while the queue is full. Only the loop takes something out; it must
// not put anything in, or it could wait for itself.
package inbox
