package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/wire"
)

// session is the exchange with one connected peer: a control stream in each direction. The node is told that the
// peer is up once both sides have said hello on both streams, and that it is down when the session ends: with the
// last connection, when the peer has restarted, or when no stream can be opened.
type session struct {
	t        *Transport
	node     grid.NodeID
	ctx      context.Context
	cancel   context.CancelFunc
	done     chan struct{} // closed when it has ended and the node has been told
	up       chan struct{} // closed when the node has been told that the peer is up
	out      *queue
	busy     atomic.Bool // frames were taken from out and are being written
	liveness liveness

	mu       sync.Mutex
	in       network.Stream // the peer's control stream; nil: none
	boot     uint64         // of the peer; 0 = unknown
	instance uint64         // of the peer; 0 = unknown, or it does not tell
	kinds    grid.KindSet
	features grid.FeatureSet
	rtt      time.Duration // the least measured; 0 = none
	inReady  bool
	outReady bool
	isUp     bool
}

func newSession(t *Transport, n grid.NodeID) *session {
	s := &session{t: t, node: n, done: make(chan struct{}), up: make(chan struct{}), out: newQueue(&t.peers.queued)}
	s.ctx, s.cancel = context.WithCancel(t.ctx)
	return s
}

// maxReopen is how many times in a row opening a control stream may fail before the connection is closed.
const maxReopen = 4

// run opens the own control stream and writes to it, reopens it when it breaks, until the session ends. Only the first
// opening may dial: a stream breaks before its connection is reported as closed, and a session that dialled in between
// would go on over another connection, without the node being told that the peer was down.
func (s *session) run() {
	defer s.end()
	mayDial := true
	for failed := 0; failed < maxReopen && s.ctx.Err() == nil; {
		absent := !s.t.peers.connected(s.node)
		st, hello, rtt, err := s.open(mayDial)
		if err == nil {
			failed, mayDial = 0, false
			if s.opened(st, &hello, rtt) {
				s.write(st)
			}
			st.Reset()
			continue
		}
		failed++
		s.noteRefusal(err)
		if absent { // the peer was not connected: one try is enough
			return
		}
		s.t.cfg.Log.Debug("control stream", "node", s.node.Short(), "error", err)
		select {
		case <-s.ctx.Done():
		case <-time.After(time.Duration(failed) * 100 * time.Millisecond):
		}
	}
	if s.ctx.Err() == nil {
		s.t.cfg.Drop("no control stream")
		s.t.host.Network().ClosePeer(identity.Peer(s.node))
	}
}

// errSecond reports that the peer talks to another instance of this node.
var errSecond = errors.New("another process has this node's identity")

// open opens the own control stream, exchanges hellos, and measures the round trip.
func (s *session) open(mayDial bool) (st network.Stream, h wire.Hello, rtt time.Duration, err error) {
	ctx, cancel := context.WithTimeout(network.WithAllowLimitedConn(s.ctx, "skep"), helloDeadline)
	defer cancel()
	if !mayDial {
		ctx = network.WithNoDial(ctx, "skep")
	}
	if st, err = s.t.host.NewStream(ctx, identity.Peer(s.node), s.t.cfg.Control); err != nil {
		return nil, h, 0, err
	}
	st.SetDeadline(time.Now().Add(helloDeadline))
	if h, rtt, err = greet(st, s.t.hello(s.node)); err != nil {
		st.Reset()
		return nil, h, 0, err
	}
	st.SetDeadline(time.Time{})
	if h.Other == 0 || h.Other == s.t.cfg.Instance {
		s.t.cfg.Instances.Joined()
	} else if s.t.cfg.Instances.Suspect(s.ctx, s.node) {
		st.Reset()
		return nil, h, 0, errSecond
	}
	if !s.t.cfg.Generations.Told(s.node, []byte(h.Known), h.KnownAge) {
		st.Reset()
		s.cancel()
		return nil, h, 0, errPutBack
	}
	return st, h, rtt, nil
}

// opened records the hello on the own stream; false if the peer has restarted meanwhile, or it is another process.
func (s *session) opened(st network.Stream, h *wire.Hello, rtt time.Duration) bool {
	if s.other(h.Instance) != 0 && s.confirm() { // the stream went over the connection of a copy of the peer
		st.Conn().Close()
		return false
	}
	s.mu.Lock()
	if s.isOther(h) {
		s.mu.Unlock()
		s.cancel()
		return false
	}
	s.boot, s.instance, s.kinds, s.features, s.outReady = h.Boot, h.Instance, h.Kinds, h.Features, true
	if s.rtt == 0 || rtt < s.rtt {
		s.rtt = rtt
	}
	s.mu.Unlock()
	s.reportUp()
	return true
}

// isOther reports whether a hello comes from another process than the earlier ones of the session. The caller holds mu.
func (s *session) isOther(h *wire.Hello) bool {
	return s.boot != 0 && s.boot != h.Boot || s.instance != 0 && s.instance != h.Instance
}

// attach makes st the peer's control stream in place of an older one; false if the session ends or the peer has
// restarted.
func (s *session) attach(st network.Stream, h *wire.Hello) bool {
	s.mu.Lock()
	if s.ctx.Err() != nil || s.isOther(h) {
		s.mu.Unlock()
		s.cancel()
		return false
	}
	old := s.in
	s.in, s.boot, s.instance, s.inReady = st, h.Boot, h.Instance, true
	s.mu.Unlock()
	if old != nil {
		old.Reset()
		s.t.work.Go(s.pingAll) // the peer has given up a connection that this side may still write to
	}
	s.reportUp()
	return true
}

// reportUp tells the node that the peer is up, once.
func (s *session) reportUp() {
	s.mu.Lock()
	first := s.inReady && s.outReady && !s.isUp
	s.isUp = s.isUp || first
	rtt, kinds, features := s.rtt, s.kinds, s.features
	s.mu.Unlock()
	if !first {
		return
	}
	s.t.gaps.closed(s.node)
	s.t.cfg.Generations.Up(s.node, features.Has(grid.FeatureGenerations))
	s.t.contacts.SessionUp(s.node)
	relayed := DirectConn(s.t.host, identity.Peer(s.node)) == nil
	s.t.cfg.Log.Info("peer up", "node", s.node.Short(), "rtt", rtt, "relayed", relayed)
	s.t.cfg.Inbox.Event(func(ev *grid.Event) {
		ev.Kind, ev.Peer, ev.RTT, ev.Kinds, ev.Features = grid.EvPeerUp, s.node, rtt, kinds, features
	})
	close(s.up)
}

// end ends the session and tells the node.
func (s *session) end() {
	s.cancel()
	s.probe(false)
	s.mu.Lock()
	in, isUp := s.in, s.isUp
	s.mu.Unlock()
	if in != nil {
		in.Reset()
	}
	if isUp {
		<-s.up
		s.t.cfg.Generations.Down(s.node)
		s.t.cfg.Log.Info("peer down", "node", s.node.Short())
		s.t.cfg.Inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Peer = grid.EvPeerDown, s.node })
	}
	s.t.contacts.SessionDown(s.node, isUp)
	s.t.peers.remove(s)
	s.out.close()
	close(s.done)
}

// write writes queued frames to the own stream until that breaks or the session ends. All that waits goes out in
// one write.
func (s *session) write(st network.Stream) {
	broken := make(chan struct{})
	s.t.work.Go(func() {
		defer close(broken)
		st.Read(make([]byte, 1)) // the peer sends nothing here after its hello: this returns when the stream ends
	})
	s.mu.Lock()
	kinds := s.kinds
	s.mu.Unlock()
	var buf []byte
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-broken:
			return
		case <-s.out.kick:
		}
		s.busy.Store(true)
		buf = s.out.take(buf[:0], kinds)
		if len(buf) > 0 {
			st.SetWriteDeadline(time.Now().Add(frameDeadline))
			if _, err := st.Write(buf); err != nil {
				s.busy.Store(false)
				return
			}
			s.expectReply()
		}
		s.busy.Store(false)
		if cap(buf) > maxIdleBuffer {
			buf = nil
		}
	}
}

// idle reports whether all queued frames have been written.
func (s *session) idle() bool {
	return s.ctx.Err() != nil || s.out.empty() && !s.busy.Load()
}
