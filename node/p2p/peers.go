package p2p

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/semaphore"

	"skep/grid"
	"skep/node/p2p/wire"
)

const controlProtocol = "/skep/control/1"

// maxSessions bounds the sessions; the connection manager keeps well below it.
const maxSessions = 1024

// peers holds the sessions, one for each connected peer.
type peers struct {
	d             *Driver
	conns         *conns
	inboundMemory *semaphore.Weighted // room for large received frames
	queued        atomic.Int64        // bytes queued to be sent, of all peers

	mu        sync.Mutex
	m         map[grid.NodeID]*session
	upgrading map[grid.NodeID]bool // peers connected through a relay, for which a direct connection is tried
}

func newPeers(d *Driver) *peers {
	return &peers{d: d, conns: newConns(d), inboundMemory: semaphore.NewWeighted(inboundAll), m: make(map[grid.NodeID]*session)}
}

// start serves control streams and follows connections.
func (p *peers) start() {
	p.d.host.SetStreamHandler(controlProtocol, func(st network.Stream) { p.serve(st) })
	bundle := &network.NotifyBundle{
		ConnectedF: func(_ network.Network, c network.Conn) {
			if n, ok := nodeOf(c.RemotePeer()); ok {
				if !p.conns.admit(c) {
					return
				}
				p.ensure(n)
				if relayed(c.RemoteMultiaddr()) {
					p.upgradeRelayed(n)
				}
			}
		},
		DisconnectedF: func(_ network.Network, c network.Conn) {
			n, ok := nodeOf(c.RemotePeer())
			last := ok && !p.connected(n)
			p.conns.remove(c, last)
			if last {
				p.d.host.ConnManager().Unprotect(c.RemotePeer(), meshTag(p.d.announcer.topic.String()))
				p.end(n)
			}
		},
	}
	p.d.host.Network().Notify(bundle)
	for _, c := range p.d.host.Network().Conns() { // connections made before Notify
		if n, ok := nodeOf(c.RemotePeer()); ok && p.conns.admit(c) {
			p.ensure(n)
		}
	}
}

// connected reports whether there is a connection to a node.
func (p *peers) connected(n grid.NodeID) bool {
	c := p.d.host.Network().Connectedness(peerOf(n))
	return c == network.Connected || c == network.Limited
}

// ensure returns the session with a node, a new one if there is none; nil if there can be none.
func (p *peers) ensure(n grid.NodeID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.m[n]; s != nil {
		return s
	}
	if n == p.d.self || len(p.m) >= maxSessions {
		return nil
	}
	s := newSession(p.d, n)
	if !p.d.spawn(s.run) {
		return nil
	}
	p.m[n] = s
	return s
}

// session returns the session with a node, nil if there is none.
func (p *peers) session(n grid.NodeID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[n]
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
		if !isGossip(k) && p.d.dialer.reachable(n) {
			s = p.ensure(n)
		}
		if s == nil {
			p.d.counts.drop("not connected")
			return
		}
	}
	p.d.counts.sent[k].Add(1)
	p.d.counts.sentBytes[k].Add(uint64(len(body)))
	for range s.out.put(k, body) {
		p.d.counts.drop("queue full")
	}
}

// serve reads a control stream that a peer has opened, until it ends.
func (p *peers) serve(st network.Stream) {
	n, ok := nodeOf(st.Conn().RemotePeer())
	if !ok || !p.d.beginWork() {
		st.Reset()
		return
	}
	defer p.d.work.Done()
	st.SetDeadline(time.Now().Add(helloDeadline))
	hello, err := welcome(st, p.d.hello())
	if err != nil {
		p.d.counts.drop("hello")
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
		if s.attach(st, &hello) {
			s.read(st)
			return
		}
		<-s.done // that session is ending; the next one takes the stream
	}
}

// hello returns this node's hello.
func (d *Driver) hello() *wire.Hello {
	return &wire.Hello{Version: wire.Version, Kinds: grid.AllKinds, Software: "skep " + d.cfg.Version, Boot: d.boot, Features: grid.AllFeatures}
}

// offend counts an offence of a peer, and disconnects the peer if there were too many.
func (d *Driver) offend(n grid.NodeID, reason string, weight int) {
	d.counts.drop(reason)
	if !d.offences.offend(n, weight, time.Now()) {
		return
	}
	d.counts.drop("cut off")
	d.log.Warn("peer cut off", "node", n.Short(), "reason", reason)
	d.spawn(func() { d.host.Network().ClosePeer(peerOf(n)) })
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

// connectedExcept returns the connected peers other than except.
func (p *peers) connectedExcept(except grid.NodeID) []peer.ID {
	var ids []peer.ID
	for _, id := range p.d.host.Network().Peers() {
		if n, ok := nodeOf(id); ok && n != except {
			ids = append(ids, id)
		}
	}
	return ids
}
