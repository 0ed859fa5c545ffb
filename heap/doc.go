// Package heap is a binary min-heap of elements by key. Keys stand beside the elements and are compared without a call;
// a call decides between equal keys alone. An element that is to be moved or removed before it is first can be told
// its index.
//
// It makes the same comparisons as container/heap, so elements that nothing orders leave in the same order, too.
package heap
