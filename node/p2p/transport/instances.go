package transport

import (
	"context"
	"maps"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"

	"skep/grid"
	"skep/node/p2p/identity"
)

// Instances finds out whether another process has a node's identity.
type Instances interface {
	// Suspect has a peer that told of another instance of this node prove it, and reports whether that one lives. It
	// returns after seconds at most.
	Suspect(ctx context.Context, witness grid.NodeID) (lives bool)

	// Joined notes that a peer knows of no other instance of this node.
	Joined()
}

// noInstances finds none.
type noInstances struct{}

func (noInstances) Suspect(context.Context, grid.NodeID) bool { return false }
func (noInstances) Joined()                                   {}

// rival is a connection over which another instance of a peer has said its number than the one of its session.
type rival struct {
	conn     network.Conn
	instance uint64
}

// InstanceConn is a connection to one instance of a peer.
type InstanceConn struct{ network.Conn }

// Open opens a stream over this connection and no other.
func (c InstanceConn) Open(ctx context.Context, id protocol.ID) (network.Stream, error) {
	st, err := c.NewStream(network.WithAllowLimitedConn(ctx, "skep"))
	if err != nil {
		return nil, err
	}
	if at, ok := ctx.Deadline(); ok {
		st.SetDeadline(at)
	}
	if err := st.SetProtocol(id); err != nil {
		st.Reset()
		return nil, err
	}
	if err := multistream.SelectProtoOrFail(id, st); err != nil {
		st.Reset()
		return nil, err
	}
	return st, nil
}

// NoteInstance records over which connection an instance of a peer talks that has no session.
func (t *Transport) NoteInstance(n grid.NodeID, instance uint64, c network.Conn) {
	if s := t.peers.session(n); s != nil && s.instanceIs(instance) {
		return
	}
	t.peers.mu.Lock()
	defer t.peers.mu.Unlock()
	t.peers.forgetClosed()
	if !c.IsClosed() {
		t.peers.rivals[n] = rival{c, instance}
	}
}

// ConnOfOther returns the connection to an instance of a peer other than the given one; nil if none is known.
func (t *Transport) ConnOfOther(n grid.NodeID, instance uint64) *InstanceConn {
	if s := t.peers.session(n); s != nil {
		s.mu.Lock()
		st, other := s.in, s.instance
		s.mu.Unlock()
		if st != nil && other != 0 && other != instance && !st.Conn().IsClosed() {
			return &InstanceConn{st.Conn()}
		}
	}
	t.peers.mu.Lock()
	defer t.peers.mu.Unlock()
	if r, ok := t.peers.rivals[n]; ok && r.instance != instance && !r.conn.IsClosed() {
		return &InstanceConn{r.conn}
	}
	return nil
}

// ServeEarly serves one of the services before Start.
func (t *Transport) ServeEarly(id protocol.ID) {
	for _, s := range t.cfg.Services {
		if s.Protocol == id {
			t.host.SetStreamHandler(id, func(st network.Stream) { t.serve(&s, st) })
		}
	}
}

// instanceIs reports whether the session is with an instance.
func (s *session) instanceIs(instance uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance == instance
}

// other returns the instance of the session if a hello comes from another one; 0: it does not.
func (s *session) other(instance uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in == nil || s.instance == instance || instance == 0 {
		return 0
	}
	return s.instance
}

// confirm reports whether the instance of the session still answers; if not, its connection is closed.
func (s *session) confirm() bool {
	s.mu.Lock()
	in := s.in
	s.mu.Unlock()
	return in != nil && !in.Conn().IsClosed() && s.answers(in.Conn()) && !in.Conn().IsClosed()
}

// keepApart keeps a second instance of a peer without a session while the first one lives, which this waits for; then
// it reports true. While it waits each can have the other prove itself. A second one that stays is disconnected.
func (s *session) keepApart(st network.Stream, instance uint64) (gone bool) {
	if !s.confirm() {
		s.cancel()
		return true
	}
	s.t.cfg.Drop("second instance")
	s.t.NoteInstance(s.node, instance, st.Conn())
	ctx, cancel := context.WithTimeout(s.t.ctx, helloDeadline)
	defer cancel()
	select {
	case <-s.done:
		return true
	case <-ctx.Done():
	}
	if !st.Conn().IsClosed() {
		s.t.cfg.Log.Warn("a second process with a peer's identity is disconnected", "node", s.node.Short(), "addr",
			st.Conn().RemoteMultiaddr())
		st.Conn().Close()
	}
	return false
}

// forgetClosed forgets the connections that were closed while nothing followed them, before start. The caller holds mu.
func (p *peers) forgetClosed() {
	maps.DeleteFunc(p.rivals, func(_ grid.NodeID, r rival) bool { return r.conn.IsClosed() })
}

// forgetRival forgets a connection that is closed.
func (p *peers) forgetRival(c network.Conn) {
	n, ok := identity.Node(c.RemotePeer())
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, known := p.rivals[n]; ok && known && r.conn == c {
		delete(p.rivals, n)
	}
}
