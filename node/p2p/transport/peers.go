package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"golang.org/x/sync/semaphore"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/wire"
)

// controlProtocol is that of this version. Peers of another one can be connected to, and have no session: see
// version_gap.go.
const controlProtocol = controlFamily + "1"

// maxSessions bounds the sessions; the connection manager keeps well below it.
const maxSessions = 1024

// peers holds the sessions, one for each connected peer.
type peers struct {
	t             *Transport
	conns         *conns
	inboundMemory *semaphore.Weighted // room for large received frames
	queued        atomic.Int64        // bytes queued to be sent, of all peers

	started chan struct{} // closed by start

	mu      sync.Mutex
	m       map[grid.NodeID]*session
	watched map[grid.NodeID]bool // neighbours: their silence is noticed
	rivals  map[grid.NodeID]rival
}

func newPeers(t *Transport) *peers {
	return &peers{t: t, started: make(chan struct{}), conns: newConns(t), inboundMemory: semaphore.NewWeighted(inboundAll),
		m: make(map[grid.NodeID]*session), watched: make(map[grid.NodeID]bool), rivals: make(map[grid.NodeID]rival)}
}

// accept keeps the control streams that peers open before start: a peer that had to try again would be up later.
func (p *peers) accept(st network.Stream) {
	select {
	case <-p.started:
		p.serve(st)
	case <-p.t.ctx.Done():
		st.Reset()
	}
}

// start serves control streams and follows connections.
func (p *peers) start() {
	close(p.started)
	bundle := &network.NotifyBundle{
		ConnectedF: func(_ network.Network, c network.Conn) {
			if n, ok := identity.Node(c.RemotePeer()); ok {
				if !p.conns.admit(c) {
					return
				}
				p.ensure(n)
				if Relayed(c.RemoteMultiaddr()) {
					p.t.contacts.RelayedConn(n)
				}
			}
		},
		DisconnectedF: func(_ network.Network, c network.Conn) {
			p.forgetRival(c)
			n, ok := identity.Node(c.RemotePeer())
			last := ok && !p.connected(n)
			p.conns.remove(c, last)
			if last {
				p.t.host.ConnManager().Unprotect(c.RemotePeer(), meshTag(p.t.announcer.topic.String()))
				p.end(n)
			}
		},
	}
	p.t.host.Network().Notify(bundle)
	p.mu.Lock()
	p.forgetClosed()
	p.mu.Unlock()
	for _, c := range p.t.host.Network().Conns() { // connections made before Notify
		if n, ok := identity.Node(c.RemotePeer()); ok && p.conns.admit(c) {
			p.ensure(n)
		}
	}
}

// connected reports whether there is a connection to a node.
func (p *peers) connected(n grid.NodeID) bool {
	c := p.t.host.Network().Connectedness(identity.Peer(n))
	return c == network.Connected || c == network.Limited
}

// ensure returns the session with a node, a new one if there is none; nil if there can be none.
func (p *peers) ensure(n grid.NodeID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.m[n]; s != nil {
		return s
	}
	if n == p.t.cfg.Self || len(p.m) >= maxSessions {
		return nil
	}
	s := newSession(p.t, n)
	if !p.t.work.Go(s.run) {
		return nil
	}
	p.m[n] = s
	s.probe(p.watched[n])
	return s
}

// session returns the session with a node, nil if there is none.
func (p *peers) session(n grid.NodeID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[n]
}

// watch makes a node's silence be noticed, in this session and later ones, or ends that.
func (p *peers) watch(n grid.NodeID, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.watched[n] = true
	} else {
		delete(p.watched, n)
	}
	if s := p.m[n]; s != nil {
		s.probe(on)
	}
}

// end ends the session with a node.
func (p *peers) end(n grid.NodeID) {
	if s := p.session(n); s != nil {
		s.cancel()
	}
}

// remove removes a session that has ended; if its node is still or again connected, a new one begins.
func (p *peers) remove(s *session) {
	p.mu.Lock()
	delete(p.m, s.node)
	p.mu.Unlock()
	if p.connected(s.node) {
		p.ensure(s.node)
	}
}

// send queues an encoded message for a node. If the node is not connected but an address is known, it is dialled
// once.
func (p *peers) send(n grid.NodeID, k grid.Kind, body []byte) {
	s := p.session(n)
	if s == nil {
		if !isGossip(k) && p.t.contacts.Dialable(n) {
			s = p.ensure(n)
		}
		if s == nil {
			p.t.cfg.Drop("not connected")
			return
		}
	}
	p.t.counts.Sent[k].Add(1)
	p.t.counts.SentBytes[k].Add(uint64(len(body)))
	for range s.out.put(k, body) {
		p.t.cfg.Drop("queue full")
	}
}

// serve reads a control stream that a peer has opened, until it ends.
func (p *peers) serve(st network.Stream) {
	n, ok := identity.Node(st.Conn().RemotePeer())
	if !ok || !p.t.work.Begin() {
		st.Reset()
		return
	}
	defer p.t.work.Done()
	st.SetDeadline(time.Now().Add(helloDeadline))
	hello, err := welcome(st, func(h *wire.Hello) *wire.Hello {
		own := p.t.hello(n)
		if s := p.session(n); s != nil {
			own.Other = s.other(h.Instance)
		}
		return own
	})
	if err != nil {
		p.t.cfg.Drop("hello")
		st.Reset()
		return
	}
	st.SetDeadline(time.Time{})
	for {
		s := p.ensure(n)
		if s == nil {
			st.Reset()
			return
		}
		if s.other(hello.Instance) != 0 && !s.keepApart(st, hello.Instance) {
			st.Reset()
			return
		}
		if s.attach(st, &hello) {
			s.read(st)
			return
		}
		<-s.done // that session is ending; the next one takes the stream
	}
}

// flush waits, at most a second, until what is queued for the peers has been written.
func (p *peers) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	p.mu.Lock()
	all := make([]*session, 0, len(p.m))
	for _, s := range p.m {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		for !s.idle() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
}

// connectedNodes returns the connected nodes.
func (p *peers) connectedNodes() (nodes []grid.NodeID) {
	for _, id := range p.t.host.Network().Peers() {
		if n, ok := identity.Node(id); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
