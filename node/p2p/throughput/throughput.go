package throughput

import (
	"sync"
	"time"

	"skep/grid"
)

// Way is one direction of the transfers with a peer.
type Way struct {
	Peer grid.NodeID
	Sent bool
}

// Meter measures. Its zero value is ready, and its methods may be called at the same time.
type Meter struct {
	mu   sync.Mutex
	busy map[Way]*period
}

// period is a time in which transfers run, without what was returned of it before.
type period struct {
	running int
	since   time.Time
	bytes   grid.Bytes // of those that have ended
}

// Begin says that a transfer begins.
func (m *Meter) Begin(w Way, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy == nil {
		m.busy = map[Way]*period{}
	}
	p := m.busy[w]
	if p == nil {
		p = &period{since: now}
		m.busy[w] = p
	}
	p.running++
}

// End says that one has ended after so many bytes. It returns what the transfers have achieved since it did so before
// or the first of them began, if that is least or more: no bytes = it is less.
func (m *Meter) End(w Way, size, least grid.Bytes, now time.Time) (t grid.Transfer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.busy[w]
	p.running--
	p.bytes += size
	if took := now.Sub(p.since); p.bytes >= least && took > 0 {
		t = grid.Transfer{Bytes: p.bytes, Took: took}
		p.bytes, p.since = 0, now
	}
	if p.running == 0 {
		delete(m.busy, w)
	}
	return t
}
