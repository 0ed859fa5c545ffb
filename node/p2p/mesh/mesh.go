package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/wire"
)

// Config is what a mesh needs. All fields must be set.
type Config struct {
	Self  grid.NodeID
	Peers Peers
	Log   *slog.Logger
	Drop  func(string) // counts what was not handled, by a reason of a fixed few
}

// Peers are the other nodes.
type Peers interface {
	// Open opens a stream within a deadline of its own; with it a node that is not connected is dialled.
	Open(ctx context.Context, n grid.NodeID, protocol string) (libp2p.Stream, error)
}

// Device is where packets of ranks here come from and go to; network.Device is one. Reads and writes are of one packet
// each, and end with Close.
type Device interface{ io.ReadWriteCloser }

// Mesh are the attempts whose packets this node carries. All its methods may be called at the same time.
type Mesh struct {
	cfg  Config
	work *lifecycle.Group

	mu      sync.Mutex
	members map[grid.AttemptID]*Member
}

// New makes a mesh, which ends with ctx or Close.
func New(ctx context.Context, cfg Config) *Mesh {
	return &Mesh{cfg: cfg, work: lifecycle.New(ctx), members: make(map[grid.AttemptID]*Member)}
}

// Close ends all memberships.
func (m *Mesh) Close() {
	m.work.Cancel()
	m.mu.Lock()
	all := make([]*Member, 0, len(m.members))
	for _, x := range m.members {
		all = append(all, x)
	}
	m.mu.Unlock()
	for _, x := range all {
		x.Close()
	}
	m.work.Wait()
}

// Layout is an attempt of a gang and where its ranks are, as the owner told this node.
type Layout struct {
	ID    grid.AttemptID // the attempt of rank 0
	Nodes []grid.NodeID  // of each rank
}

// Local are the ranks of a node.
func (l *Layout) Local(n grid.NodeID) (ranks []int) {
	for r, at := range l.Nodes {
		if at == n {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// Check returns why a node can have no part in the attempt.
func (l *Layout) Check(self grid.NodeID) error {
	switch {
	case len(l.Nodes) > grid.MaxRanks:
		return fmt.Errorf("gang: %d ranks: want at most %d", len(l.Nodes), grid.MaxRanks)
	case !slices.Contains(l.Nodes, self):
		return errors.New("gang: no rank is on this node: want a layout that has one")
	case slices.ContainsFunc(l.Nodes, grid.NodeID.IsZero):
		return errors.New("gang: a rank is on no node: want one for each")
	}
	return nil
}

// Join carries the packets of an attempt from now on, and owns the device. An attempt is joined once; one that is in
// already is an error, and the device stays the caller's.
func (m *Mesh) Join(l Layout, d Device) (*Member, error) {
	if err := l.Check(m.cfg.Self); err != nil {
		return nil, err
	}
	x := newMember(m, l, d)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.work.Context().Err() != nil {
		return nil, context.Canceled
	}
	if m.members[l.ID] != nil {
		return nil, fmt.Errorf("gang: attempt %v is carried already", l.ID)
	}
	m.members[l.ID] = x
	x.start()
	return x, nil
}

func (m *Mesh) leave(x *Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.members[x.layout.ID] == x {
		delete(m.members, x.layout.ID)
	}
}

// Serve carries the packets of an attempt on a stream that another node has opened. The stream needs its seat only
// until the attempt is known.
func (m *Mesh) Serve(n grid.NodeID, st libp2p.Stream, request []byte, w io.Writer, freeSeat func() bool) {
	m.mu.Lock()
	x := m.members[wire.AttemptIn(request)]
	m.mu.Unlock()
	if x == nil { // the attempt is over, or this node has not begun it yet
		w.Write([]byte{wire.StatusNone})
		return
	}
	l := x.links[n]
	if l == nil || n.Compare(m.cfg.Self) >= 0 {
		m.cfg.Drop("request")
		st.Reset()
		return
	}
	if !freeSeat() {
		return
	}
	if _, err := w.Write([]byte{wire.StatusOK}); err != nil {
		st.Reset()
		return
	}
	st.SetDeadline(time.Time{})
	l.carry(st)
}
