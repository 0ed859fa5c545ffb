package p2p

import (
	"sync"

	"skep/grid"
)

// callers are the goroutines that wait for a reply of the node.
type callers struct {
	mu   sync.Mutex
	m    map[uint64]chan string
	last uint64
}

// add returns a number for a caller and the channel of its reply.
func (c *callers) add() (uint64, <-chan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = make(map[uint64]chan string)
	}
	c.last++
	ch := make(chan string, 1)
	c.m[c.last] = ch
	return c.last, ch
}

func (c *callers) remove(caller uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, caller)
}

func (c *callers) reply(r *grid.Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.m[r.Caller]; ch != nil {
		delete(c.m, r.Caller)
		ch <- r.Err
	}
}
