package ports

import (
	"sync"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// Bounds of connections, with one other node and with all, for all attempts together. Each has two buffers of
// bufferSize, and a stream, for which the resource manager of libp2p counts 256 KiB.
const (
	MostWithNode = 256
	MostForAll   = 1024

	// watchReserve is how many streams of each direction are left for lists of ports, whatever the connections take.
	watchReserve = 64

	// Outbound and Inbound are how many streams may be open to a node, and from it with those about to end.
	Outbound = MostWithNode + watchReserve
	Inbound  = Outbound + 64
)

// mostListeners bounds the listeners of all attempts.
const mostListeners = 8192

// descriptors returns how many listeners there may be: no more than a quarter of the process's descriptors.
func descriptors() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 256
	}
	return int(min(lim.Cur/4, mostListeners))
}

// pool is a number of things that attempts share by a dynamic threshold (Choudhury and Hahne, 1998): an attempt may
// hold at most as many as are left. So one alone gets half, n that want all get 1/(n+1) each, and one that comes later
// still finds as many.
type pool struct {
	most, used int
	held       map[grid.AttemptID]int
}

func newPool(most int) *pool { return &pool{most: most, held: map[grid.AttemptID]int{}} }

func (p *pool) has(id grid.AttemptID) bool { return p.held[id] < p.most-p.used }

func (p *pool) take(id grid.AttemptID) {
	p.used++
	p.held[id]++
}

func (p *pool) give(id grid.AttemptID) {
	p.used--
	if p.held[id]--; p.held[id] == 0 {
		delete(p.held, id)
	}
}

// shares are what the attempts at this node hold. All its methods may be called at the same time.
type shares struct {
	mu        sync.Mutex
	all       *pool
	nodes     map[grid.NodeID]*pool // without those of which nothing is held
	listeners *pool
}

func newShares(listeners int) *shares {
	return &shares{all: newPool(MostForAll), nodes: map[grid.NodeID]*pool{}, listeners: newPool(listeners)}
}

// connect counts one more connection of an attempt with a node; false: it has its share.
func (s *shares) connect(id grid.AttemptID, n grid.NodeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	with := s.nodes[n]
	if with == nil {
		with = newPool(MostWithNode)
	}
	if !s.all.has(id) || !with.has(id) {
		return false
	}
	s.all.take(id)
	with.take(id)
	s.nodes[n] = with
	return true
}

func (s *shares) disconnect(id grid.AttemptID, n grid.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.give(id)
	with := s.nodes[n]
	if with.give(id); with.used == 0 {
		delete(s.nodes, n)
	}
}

// listen counts one more listener of an attempt; false: it has its share.
func (s *shares) listen(id grid.AttemptID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listeners.has(id) {
		return false
	}
	s.listeners.take(id)
	return true
}

func (s *shares) unlisten(id grid.AttemptID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners.give(id)
}

// connections returns how many there are.
func (s *shares) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.used
}
