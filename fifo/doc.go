// Package fifo has a map that knows which of its entries is the oldest: what keeps the newest of many things, or those
// of some time, removes the oldest first. While it is small it is a list that is searched, which most nodes of a large
// grid never outgrow, and it grows by a quarter. And it has a queue, which uses its memory again.
package fifo
