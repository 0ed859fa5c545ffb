package ports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	libp2pnet "github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/mesh"
)

// site is a node of a test.
type site struct {
	host    host.Host
	id      grid.NodeID
	proxies *Proxies
	mu      sync.Mutex
	dropped []string
}

// Open implements mesh.Peers.
func (s *site) Open(ctx context.Context, n grid.NodeID, id string) (libp2pnet.Stream, error) {
	return s.host.NewStream(ctx, identity.Peer(n), protocol.ID(id))
}

func (s *site) drop(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = append(s.dropped, reason)
}

// serve reads the request of a stream as package transport does.
func (s *site) serve(st libp2pnet.Stream) {
	n, _ := identity.Node(st.Conn().RemotePeer())
	request := make([]byte, Request)
	if _, err := io.ReadFull(st, request); err != nil {
		st.Reset()
		return
	}
	s.proxies.Serve(n, st, request, st, func() bool { return true })
	st.Close()
}

// sites makes connected nodes.
func sites(t *testing.T, count int) []*site {
	t.Helper()
	all := make([]*site, count)
	for i := range all {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(),
			libp2p.ResourceManager(&libp2pnet.NullResourceManager{}))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := identity.Node(h.ID())
		s := &site{host: h, id: n}
		s.proxies = New(context.Background(), Config{Self: n, Peers: s, Log: slog.New(slog.DiscardHandler), Drop: s.drop})
		h.SetStreamHandler(Protocol, s.serve)
		t.Cleanup(func() { s.proxies.Close(); h.Close() })
		for _, other := range all[:i] {
			h.Peerstore().AddAddrs(other.host.ID(), other.host.Addrs(), time.Hour)
			other.host.Peerstore().AddAddrs(h.ID(), h.Addrs(), time.Hour)
			// two that dial each other at once may meet in one TCP connection, and both fail
			if err := h.Connect(t.Context(), peer.AddrInfo{ID: other.host.ID()}); err != nil {
				t.Fatal(err)
			}
		}
		all[i] = s
	}
	return all
}

// pod is the network of ranks in which a test listens and connects: ports of this process stand for those of ranks.
type pod struct {
	mu       sync.Mutex
	ranks    map[network.Endpoint]net.Listener // of ranks here, by the test
	standing map[network.Endpoint]net.Listener // of ranks elsewhere
	from     []int                             // who has connected
	inTheWay bool
	tries    int // to listen
	looks    int
	closed   bool
}

func newPod() *pod {
	return &pod{ranks: map[network.Endpoint]net.Listener{}, standing: map[network.Endpoint]net.Listener{}}
}

func (p *pod) Listening(declared []uint16) (all []network.Endpoint, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	for e := range p.ranks {
		if slices.Contains(declared, e.Port) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, network.Endpoint.Compare)
	return all, nil
}

func (p *pod) AtAll([]uint16) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	return p.inTheWay, nil
}

func (p *pod) Listen(at network.Endpoint, atAll bool) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	if atAll {
		return nil, network.ErrAllAddresses
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	p.standing[at] = l
	return l, err
}

func (p *pod) Dial(from int, to network.Endpoint) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = append(p.from, from)
	l := p.ranks[to]
	if l == nil {
		return nil, errors.New("refused")
	}
	return net.Dial("tcp", l.Addr().String())
}

func (p *pod) Close() error {
	p.closed = true
	return nil
}

// listen has a rank of the pod listen.
func (p *pod) listen(t *testing.T, at network.Endpoint) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ranks[at] = l
	return l
}

// quit has it listen no more.
func (p *pod) quit(at network.Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ranks[at].Close()
	delete(p.ranks, at)
}

// reached reports whether something stands for a rank elsewhere, be it that the connection breaks at once.
func (p *pod) reached(at network.Endpoint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.standing[at]
	if l == nil {
		return false
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err == nil {
		abort(c)
	}
	return !errors.Is(err, syscall.ECONNREFUSED)
}

// connect connects to a rank elsewhere once it is there.
func (p *pod) connect(t *testing.T, to network.Endpoint) net.Conn {
	t.Helper()
	var c net.Conn
	rig.Await(t, fmt.Sprint("reaching ", to), func() bool {
		p.mu.Lock()
		l := p.standing[to]
		p.mu.Unlock()
		if l == nil {
			return false
		}
		var err error
		c, err = net.Dial("tcp", l.Addr().String())
		return err == nil
	})
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(rig.Timeout))
	return c
}

// gang joins an attempt whose ranks are at these sites, one each, with ports 80 and 81.
func gang(t *testing.T, n uint32, at ...*site) (pods []*pod, members []*Member) {
	t.Helper()
	l := Layout{Layout: mesh.Layout{ID: grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: n}}}, Ports: []uint16{80, 81}}
	for _, s := range at {
		l.Nodes = append(l.Nodes, s.id)
	}
	for _, s := range at {
		p := newPod()
		m, err := s.proxies.Join(l, p)
		if err != nil {
			t.Fatal(err)
		}
		pods, members = append(pods, p), append(members, m)
	}
	return pods, members
}

// idle makes a member of an attempt that does nothing by itself, and the node that has rank 0; the member has rank 1.
func idle(t *testing.T, n int, of *Proxies) (*Member, *pod, grid.NodeID) {
	t.Helper()
	other, p := grid.NodeID{9}, newPod()
	l := mesh.Layout{ID: attempt(n), Nodes: []grid.NodeID{other, of.cfg.Self}}
	m := newMember(of, Layout{Layout: l, Ports: []uint16{80, 81}}, p)
	m.work = lifecycle.New(t.Context())
	t.Cleanup(func() {
		for e := range m.standing {
			m.leave(e)
		}
		m.Close()
	})
	return m, p, other
}
