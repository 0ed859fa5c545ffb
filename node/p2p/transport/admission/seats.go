package admission

import (
	"sync"
	"sync/atomic"
	"time"

	"skep/grid"
)

// MaxIdle is for how long a stranger's seat may be unused until any newcomer gets it.
const MaxIdle = 30 * time.Second

// Claim describes who asks for a seat.
type Claim struct {
	Node     grid.NodeID
	Net      string // its network, as returned by Net
	Familiar bool   // known for long: no stranger
	OnEvict  func() // called when the seat is given to another; it must not block, nor call Seats
}

// Seats is a pool of seats. The zero value has none. Its methods are safe for concurrent use.
type Seats struct {
	Max     int // seats in all
	PerNode int // of one node

	mu    sync.Mutex
	taken []*Seat
}

// Seat is a taken seat.
type Seat struct {
	of    *Seats
	claim Claim
	index int // in of.taken; -1: freed
	used  atomic.Int64
}

// Take takes a seat, another's if need be; nil if there is none.
func (s *Seats) Take(c Claim, at time.Time) *Seat {
	s.mu.Lock()
	n := s.count(&c)
	if n.node >= s.PerNode || s.Max == 0 {
		s.mu.Unlock()
		return nil
	}
	var evicted *Seat
	if len(s.taken) >= s.Max {
		if evicted = s.victim(&c, n, at); evicted == nil {
			s.mu.Unlock()
			return nil
		}
		s.remove(evicted)
	}
	seat := &Seat{of: s, claim: c, index: len(s.taken)}
	seat.used.Store(at.UnixNano())
	s.taken = append(s.taken, seat)
	s.mu.Unlock()
	if evicted != nil && evicted.claim.OnEvict != nil {
		evicted.claim.OnEvict()
	}
	return seat
}

// Use records that the seat is in use.
func (t *Seat) Use(at time.Time) { t.used.Store(at.UnixNano()) }

// SetFamiliar records that the seat's node is familiar now.
func (t *Seat) SetFamiliar() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.claim.Familiar = true
}

// Free frees the seat, and reports whether it was taken still. It may be called again, and after the seat was given
// away.
func (t *Seat) Free() bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	taken := t.index >= 0
	t.of.remove(t)
	return taken
}

// Taken returns the number of taken seats.
func (s *Seats) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.taken)
}

func (s *Seats) remove(t *Seat) {
	if t.index < 0 {
		return
	}
	last := s.taken[len(s.taken)-1]
	s.taken[t.index], last.index = last, t.index
	s.taken = s.taken[:len(s.taken)-1]
	t.index = -1
}

// share is how many seats a network and a node have among those of one class (familiar nodes or strangers), and how
// many the class has.
type share struct{ net, node, class int }

func (s *Seats) count(c *Claim) (n share) {
	for _, t := range s.taken {
		if t.claim.Node == c.Node {
			n.node++
		}
		if t.claim.Familiar == c.Familiar {
			n.class++
			if t.claim.Net == c.Net {
				n.net++
			}
		}
	}
	return n
}

// victim returns the seat that a newcomer gets, which has n already; nil: none. Of the class that has to give, it
// is a seat of the network with the most, of the node there with the most, the least recently used.
func (s *Seats) victim(c *Claim, n share, at time.Time) *Seat {
	known := c.Familiar && n.class >= s.Max-s.Max/4 // among familiar nodes; else strangers give
	nets, nodes := make(map[string]int), make(map[grid.NodeID]int)
	var idle *Seat
	for _, t := range s.taken {
		if !t.claim.Familiar && (idle == nil || t.used.Load() < idle.used.Load()) {
			idle = t
		}
		if t.claim.Familiar == known {
			nets[t.claim.Net]++
			nodes[t.claim.Node]++
		}
	}
	var worst *Seat
	for _, t := range s.taken {
		if t.claim.Familiar == known && (worst == nil || heavier(t, worst, nets, nodes)) {
			worst = t
		}
	}
	switch {
	case idle != nil && at.Sub(time.Unix(0, idle.used.Load())) >= MaxIdle:
		return idle
	case worst == nil:
		return nil
	case c.Familiar && !known: // a stranger gives to a familiar node
		return worst
	case worst.claim.Net != c.Net && nets[worst.claim.Net] > n.net+1:
		return worst
	case worst.claim.Net == c.Net && nodes[worst.claim.Node] > n.node+1:
		return worst
	}
	return nil
}

// heavier orders the seats that may be given away.
func heavier(a, b *Seat, nets map[string]int, nodes map[grid.NodeID]int) bool {
	if x, y := nets[a.claim.Net], nets[b.claim.Net]; x != y {
		return x > y
	}
	if x, y := nodes[a.claim.Node], nodes[b.claim.Node]; x != y {
		return x > y
	}
	return a.used.Load() < b.used.Load()
}
