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
	Received Rates // what came from each peer

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

// Progress says that one that goes on has got so many bytes further, and returns as End does.
func (m *Meter) Progress(w Way, size, least grid.Bytes, now time.Time) grid.Transfer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy[w].add(size, least, now)
}

// End says that one has ended after so many bytes more. It returns what the transfers have achieved since it did so
// before or the first of them began, if that is least or more: no bytes = it is less.
func (m *Meter) End(w Way, size, least grid.Bytes, now time.Time) (t grid.Transfer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.busy[w]
	p.running--
	t = p.add(size, least, now)
	if p.running == 0 {
		delete(m.busy, w)
	}
	return t
}

// add counts bytes, and returns what has been achieved if it is least or more.
func (p *period) add(size, least grid.Bytes, now time.Time) (t grid.Transfer) {
	p.bytes += size
	if took := now.Sub(p.since); p.bytes >= least && took > 0 {
		t = grid.Transfer{Bytes: p.bytes, Took: took}
		p.bytes, p.since = 0, now
	}
	return t
}
