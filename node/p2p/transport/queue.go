package transport

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"skep/grid"
)

// Bounds of the queue to one peer. Beyond them the oldest gossip is dropped first, then the oldest of all: a
// control stream is best effort, and old gossip is the least loss.
const (
	maxQueued      = 4096    // frames
	maxQueuedBytes = 8 << 20 // bytes of frames

	allQueuedBytes = 32 << 20 // of all peers together; beyond it a queue keeps leastQueued
	leastQueued    = 256 << 10
)

// queue holds the frames for one peer until its writer takes all of them at once.
type queue struct {
	kick chan struct{} // has a value while there may be something to take
	all  *atomic.Int64 // live, of all queues

	mu     sync.Mutex
	frames []frame
	buf    []byte // of all frames, each after its length
	live   int    // bytes of frames that were not dropped
	gossip int    // frames before this one are no gossip, or dropped
	head   int    // frames before this one are dropped
	count  int    // frames that were not dropped
	closed bool
}

type frame struct {
	kind       grid.Kind
	start, end int // in buf; start == end: dropped
}

func newQueue(all *atomic.Int64) *queue { return &queue{kick: make(chan struct{}, 1), all: all} }

// isGossip reports whether a message of the kind is replaced by the next one.
func isGossip(k grid.Kind) bool { return k == grid.KindDigest || k == grid.KindFind }

// put appends a message and returns the kinds of those dropped for it.
func (q *queue) put(k grid.Kind, body []byte) (dropped []grid.Kind) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return []grid.Kind{k}
	}
	start := len(q.buf)
	q.buf = binary.AppendUvarint(q.buf, uint64(len(body)))
	q.buf = append(q.buf, body...)
	q.frames = append(q.frames, frame{k, start, len(q.buf)})
	q.live += len(q.buf) - start
	q.count++
	most := maxQueuedBytes
	if q.all.Add(int64(len(q.buf)-start)) > allQueuedBytes {
		most = leastQueued
	}
	if len(q.buf) > 2*most {
		q.compact()
	}
	for q.count > 1 && (q.count > maxQueued || q.live > most) {
		dropped = append(dropped, q.drop())
	}
	q.mu.Unlock()
	select {
	case q.kick <- struct{}{}:
	default:
	}
	return dropped
}

// drop drops the oldest gossip, else the oldest frame.
func (q *queue) drop() grid.Kind {
	for ; q.gossip < len(q.frames); q.gossip++ {
		if f := &q.frames[q.gossip]; f.start < f.end && isGossip(f.kind) {
			return q.remove(f)
		}
	}
	for q.frames[q.head].start == q.frames[q.head].end {
		q.head++
	}
	return q.remove(&q.frames[q.head])
}

func (q *queue) remove(f *frame) grid.Kind {
	q.live -= f.end - f.start
	q.all.Add(int64(f.start - f.end))
	q.count--
	f.end = f.start
	return f.kind
}

// compact frees the memory of dropped frames.
func (q *queue) compact() {
	buf, frames := q.buf[:0], q.frames[:0]
	for _, f := range q.frames {
		if f.start < f.end {
			start := len(buf)
			buf = append(buf, q.buf[f.start:f.end]...)
			frames = append(frames, frame{f.kind, start, len(buf)})
		}
	}
	q.buf, q.frames, q.gossip, q.head = buf, frames, 0, 0
}

// take moves all frames of the given kinds to dst, encoded as on the wire, and drops the others: kinds that the
// peer does not list are not sent to it.
func (q *queue) take(dst []byte, kinds grid.KindSet) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.frames {
		if f := &q.frames[i]; kinds.Has(f.kind) {
			dst = append(dst, q.buf[f.start:f.end]...)
		}
	}
	q.all.Add(-int64(q.live))
	q.frames, q.buf, q.live, q.count = q.frames[:0], q.buf[:0], 0, 0
	q.gossip, q.head = 0, 0
	if cap(q.buf) > maxIdleBuffer {
		q.buf = nil
	}
	return dst
}

// close drops all frames, and all later ones.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.all.Add(-int64(q.live))
	q.frames, q.buf, q.live, q.count, q.gossip, q.head = nil, nil, 0, 0, 0, 0
}

// maxIdleBuffer bounds the buffers of a peer that are kept after a burst, in bytes.
const maxIdleBuffer = 256 << 10

// empty reports whether the queue is empty.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count == 0
}
