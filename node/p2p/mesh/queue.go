package mesh

import (
	"encoding/binary"
	"sync"

	"skep/exec/network"
)

// frames are packets, each behind its length, that a stream takes at once. The first is read from the device into its
// place, so that a large packet is not copied again; small ones follow it as long as there is room.
type frames struct {
	n int
	b [frameHead + network.MTU + 1]byte
}

var spare = sync.Pool{New: func() any { return new(frames) }}

// room is where the first packet is to be read to. One byte more than a packet may have shows one that is too long.
func (f *frames) room() []byte { return f.b[frameHead:] }

// first makes the n bytes that were read to room the first frame.
func (f *frames) first(n int) {
	binary.BigEndian.PutUint16(f.b[:], uint16(n))
	f.n = frameHead + n
}

// queue holds the packets for one node until its stream takes them: all that has come meanwhile at once. It has a
// bound, beyond which packets are dropped: a reader that waited would keep those for other nodes waiting too, and TCP
// needs losses to find out how fast a path is.
type queue struct {
	bound int           // of waiting, in frames
	ready chan struct{} // has a value when some are there

	mu      sync.Mutex
	waiting []*frames
}

// newQueue makes one that holds at most so many bytes.
func newQueue(bytes int) *queue {
	return &queue{bound: bytes / len(frames{}.b), ready: make(chan struct{}, 1)}
}

// put adds a packet. It takes f over, unless f is returned: because the packet was copied, or, with ok false, dropped.
func (q *queue) put(f *frames) (back *frames, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.waiting); n > 0 {
		if last := q.waiting[n-1]; last.n+f.n <= len(last.b) {
			copy(last.b[last.n:], f.b[:f.n])
			last.n += f.n
			return f, true
		}
		if n >= q.bound {
			return f, false
		}
	} else {
		select {
		case q.ready <- struct{}{}:
		default:
		}
	}
	q.waiting = append(q.waiting, f)
	return nil, true
}

// take returns all that waits; the next to wait are listed in the array of the list before, which is empty.
func (q *queue) take(before []*frames) []*frames {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = before[:0]
	return all
}
