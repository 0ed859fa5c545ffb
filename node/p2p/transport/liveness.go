package transport

import (
	"sync/atomic"
	"time"

	"skep/node/p2p/identity"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-yamux/v5"
)

// A machine that lost its power, or the cable to it, closes no connection, and TCP reports that only after minutes.
// So a node that sent something to a peer and then receives nothing from it for silenceLimit pings the connection,
// which any live peer answers; without an answer within pingTimeout the connection is closed. A shorter time takes
// a slow machine for a dead one, a longer one sends tasks to a dead one. A node that sends nothing pings nobody.
const (
	silenceLimit = 3 * time.Second
	pingTimeout  = 5 * time.Second
)

// liveness tracks whether a peer still sends.
type liveness struct {
	frames  atomic.Uint64 // received so far
	waiting atomic.Bool
	pinging atomic.Bool // connections are being pinged
}

func (p *liveness) frameReceived() { p.frames.Add(1) }

// expectReply starts waiting for a frame of the peer after something was sent to it.
func (s *session) expectReply() {
	if s.liveness.waiting.Swap(true) {
		return
	}
	heard := s.liveness.frames.Load()
	time.AfterFunc(silenceLimit, func() {
		s.liveness.waiting.Store(false)
		if s.ctx.Err() == nil && s.liveness.frames.Load() == heard {
			s.t.work.Go(s.pingAll)
		}
	})
}

// pingAll closes the connections to the peer that do not answer a ping.
func (s *session) pingAll() {
	if s.liveness.pinging.Swap(true) {
		return
	}
	defer s.liveness.pinging.Store(false)
	for _, c := range s.t.host.Network().ConnsToPeer(identity.Peer(s.node)) {
		if s.ping(c) {
			continue
		}
		s.t.cfg.Log.Info("peer is silent", "node", s.node.Short(), "addr", c.RemoteMultiaddr())
		s.t.cfg.Drop("silent peer")
		c.Close()
	}
}

// ping pings a connection and reports whether it answered.
func (s *session) ping(c network.Conn) bool {
	var mux *yamux.Session
	if !c.As(&mux) {
		return true // its muxer has no ping
	}
	answer := make(chan error, 1)
	go func() { // ends with the connection, or with the muxer's own deadline
		_, err := mux.Ping()
		answer <- err
	}()
	wait := time.NewTimer(pingTimeout)
	defer wait.Stop()
	select {
	case err := <-answer:
		return err == nil
	case <-s.ctx.Done():
		return true
	case <-wait.C:
		return false
	}
}
