package ports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/mesh"
	"skep/node/p2p/wire"
)

// Config is what it needs. All fields must be set.
type Config struct {
	Self  grid.NodeID
	Peers mesh.Peers
	Log   *slog.Logger
	Drop  func(string) // counts what was not handled, by a reason of a fixed few
}

// Pod is the network that ranks here share; network.Loopback is one. Dial may be called at the same time as the others.
type Pod interface {
	// Listening returns on which of the ports ranks here listen, in order.
	Listening(declared []uint16) ([]network.Endpoint, error)
	// AtAll reports whether a rank here listens on one of the ports at all addresses.
	AtAll(declared []uint16) (bool, error)
	// Listen listens in place of a rank elsewhere, for a caller that has just asked AtAll.
	Listen(at network.Endpoint, atAll bool) (net.Listener, error)
	// Dial connects to a rank here in the name of another.
	Dial(from int, to network.Endpoint) (net.Conn, error)
	Close() error
}

// Layout is an attempt of a gang, where its ranks are, and the ports on which they reach each other.
type Layout struct {
	mesh.Layout
	Ports []uint16
}

const bufferSize = 32 << 10

// errFalse is why a stream with a peer ends that says what it may not.
var errFalse = errors.New("not a list of ports of its ranks")

// Proxies are the attempts whose connections this node carries. All its methods may be called at the same time.
type Proxies struct {
	cfg    Config
	work   *lifecycle.Group
	shares *shares

	mu      sync.Mutex
	members map[grid.AttemptID]*Member
}

// New makes it. It ends with ctx or Close.
func New(ctx context.Context, cfg Config) *Proxies {
	return &Proxies{cfg: cfg, work: lifecycle.New(ctx), shares: newShares(descriptors()),
		members: make(map[grid.AttemptID]*Member)}
}

// Close ends all memberships.
func (p *Proxies) Close() {
	p.work.Cancel()
	p.mu.Lock()
	all := make([]*Member, 0, len(p.members))
	for _, x := range p.members {
		all = append(all, x)
	}
	p.mu.Unlock()
	for _, x := range all {
		x.Close()
	}
	p.work.Wait()
}

// Join carries the connections of an attempt from now on, and owns the pod. An attempt is joined once; one that is in
// already is an error, and the pod stays the caller's.
func (p *Proxies) Join(l Layout, pod Pod) (*Member, error) {
	if err := l.Check(p.cfg.Self); err != nil {
		return nil, err
	}
	x := newMember(p, l, pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.work.Context().Err() != nil {
		return nil, context.Canceled
	}
	if p.members[l.ID] != nil {
		return nil, fmt.Errorf("gang: attempt %v is carried already", l.ID)
	}
	p.members[l.ID] = x
	x.start()
	return x, nil
}

func (p *Proxies) leave(x *Member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members[x.layout.ID] == x {
		delete(p.members, x.layout.ID)
	}
}

// Serve serves a stream that another node has opened. The stream needs its seat only until it is admitted.
func (p *Proxies) Serve(n grid.NodeID, st libp2p.Stream, request []byte, w io.Writer, freeSeat func() bool) {
	a := decodeAsk(request)
	p.mu.Lock()
	x := p.members[a.id]
	p.mu.Unlock()
	switch {
	case x == nil: // the attempt is over, or this node has not begun it yet
		w.Write([]byte{wire.StatusNone})
	case x.others[n] == 0 || !x.mayAsk(n, a):
		p.cfg.Drop("request")
		st.Reset()
	case !x.work.Begin():
		w.Write([]byte{wire.StatusNone})
	default:
		defer x.work.Done()
		if a.to.Port == 0 {
			x.tell(n, st, w, freeSeat)
		} else {
			x.connect(n, a, st, w, freeSeat)
		}
	}
}
