package transport

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-yamux/v5"

	"skep/grid"
	"skep/node/p2p/identity"
)

// A machine that lost its power, or the cable to it, closes no connection, and TCP reports that only after minutes; of
// a process that is stopped it reports nothing at all. So a node pings the connections to a peer, which any live peer
// answers, if it sent something and then receives nothing for silenceLimit, and those to a neighbour also if it
// receives nothing for probeAfter. A connection that receives nothing within pingTimeout is closed. A shorter time
// takes a slow machine for a dead one, a longer one sends tasks to a dead one: a neighbour is given up 9.3 s after its
// end. A node pings nobody else. The neighbour with the lesser identity pings first, which the other one notices, so
// that in an idle grid each link carries one ping in probeAfter.
const (
	silenceLimit = 3 * time.Second
	probeAfter   = 5 * time.Second
	probeTurn    = 300 * time.Millisecond // added by the greater identity
	pingTimeout  = 4 * time.Second
)

// liveness tracks whether a peer still sends.
type liveness struct {
	waiting atomic.Bool // something was sent, and silenceLimit has not passed
	pinging atomic.Bool // connections are being pinged

	mu    sync.Mutex
	probe *time.Timer // of a neighbour: the next look at when something was received; nil: it is none
}

// quiet returns for how long nothing was received from the peer.
func (s *session) quiet() time.Duration {
	least := time.Duration(1<<63 - 1)
	for _, c := range s.t.host.Network().ConnsToPeer(identity.Peer(s.node)) {
		var last *lastReceived
		if c.As(&last) {
			least = min(least, last.ago())
		}
	}
	return least
}

// expectReply starts waiting for something from the peer after something was sent to it.
func (s *session) expectReply() {
	if s.liveness.waiting.Swap(true) {
		return
	}
	time.AfterFunc(silenceLimit, func() {
		s.liveness.waiting.Store(false)
		if s.ctx.Err() == nil && s.quiet() >= silenceLimit {
			s.t.work.Go(s.pingAll)
		}
	})
}

// probeAfter returns after what silence the peer is pinged.
func (s *session) probeAfter() time.Duration {
	if s.node.Compare(s.t.cfg.Self) < 0 {
		return probeAfter + probeTurn
	}
	return probeAfter
}

// probe begins or ends to ping the peer whenever it is silent.
func (s *session) probe(on bool) {
	l := &s.liveness
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case on && l.probe == nil && s.ctx.Err() == nil:
		l.probe = time.AfterFunc(s.probeAfter(), s.probeSilent)
	case !on && l.probe != nil:
		l.probe.Stop()
		l.probe = nil
	}
}

// probeSilent pings the peer if it is silent, and sets the time of the next look.
func (s *session) probeSilent() {
	next := s.probeAfter() - s.quiet()
	if next <= 0 {
		s.t.work.Go(s.pingAll)
		next = probeAfter
	}
	l := &s.liveness
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.probe != nil && s.ctx.Err() == nil {
		l.probe.Reset(next)
	}
}

// pingAll closes the connections to the peer that do not answer a ping.
func (s *session) pingAll() {
	if s.liveness.pinging.Swap(true) {
		return
	}
	defer s.liveness.pinging.Store(false)
	var all sync.WaitGroup
	for _, c := range s.t.host.Network().ConnsToPeer(identity.Peer(s.node)) {
		all.Go(func() { s.answers(c) })
	}
	all.Wait()
}

// answers pings a connection and closes it if it does not answer.
func (s *session) answers(c network.Conn) bool {
	if s.ping(c) {
		return true
	}
	s.t.cfg.Log.Info("peer is silent", "node", s.node.Short(), "addr", c.RemoteMultiaddr())
	s.t.cfg.Drop("silent peer")
	c.Close()
	return false
}

// ping pings a connection and reports whether it received anything.
func (s *session) ping(c network.Conn) bool {
	var mux *yamux.Session
	var last *lastReceived
	if !c.As(&mux) || !c.As(&last) {
		return true // its muxer has no ping
	}
	answer := make(chan error, 1)
	began := time.Now()
	go func() { // ends with the connection, or with the muxer's own deadline
		_, err := mux.Ping()
		answer <- err
	}()
	wait := time.NewTimer(pingTimeout)
	defer wait.Stop()
	for {
		select {
		case err := <-answer:
			return err == nil
		case <-s.ctx.Done():
			return true
		case <-wait.C:
		}
		switch waited := time.Since(began); {
		case last.ago() < waited:
			return true
		case waited < pingTimeout+stallLimit:
			return false
		}
		began = time.Now() // this process did not run for a while, and may not have read the answer
		wait.Reset(pingTimeout)
	}
}

// stallLimit is how late a timer may fire where the process runs.
const stallLimit = time.Second

// Watch begins or ends to ping a peer whenever it is silent. It is called for neighbours, of which there are few.
func (t *Transport) Watch(n grid.NodeID, on bool) { t.peers.watch(n, on) }
