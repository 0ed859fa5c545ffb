package p2p

import (
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-yamux/v5"
)

// A machine that lost its power, or the cable to it, closes no connection, and TCP tells of it only after minutes. So
// whoever says something to a peer and then hears nothing from it for quietTime asks the connection itself, which any
// peer that lives answers; without an answer within pulseTime it is closed. Shorter takes a slow machine for a dead one,
// longer sends tasks to a dead one. Who says nothing asks nothing.
const (
	silenceLimit = 3 * time.Second
	pingTimeout  = 5 * time.Second
)

// liveness is when a peer was last heard, and whether it is being looked at.
type liveness struct {
	frames  atomic.Uint64 // heard so far
	waiting atomic.Bool
	pinging atomic.Bool // connections are being asked
}

func (p *liveness) frameReceived() { p.frames.Add(1) }

// expectReply begins to look for a sign of life after something was said.
func (s *session) expectReply() {
	if s.liveness.waiting.Swap(true) {
		return
	}
	heard := s.liveness.frames.Load()
	time.AfterFunc(silenceLimit, func() {
		s.liveness.waiting.Store(false)
		if s.ctx.Err() == nil && s.liveness.frames.Load() == heard {
			s.d.spawn(s.pingAll)
		}
	})
}

// pingAll closes the connections to the peer that do not answer.
func (s *session) pingAll() {
	if s.liveness.pinging.Swap(true) {
		return
	}
	defer s.liveness.pinging.Store(false)
	for _, c := range s.d.host.Network().ConnsToPeer(peerOf(s.node)) {
		if s.ping(c) {
			continue
		}
		s.d.log.Info("peer is silent", "node", s.node.Short(), "addr", c.RemoteMultiaddr())
		s.d.counts.drop("silent peer")
		c.Close()
	}
}

// ping asks a connection for a sign of life.
func (s *session) ping(c network.Conn) bool {
	var mux *yamux.Session
	if !c.As(&mux) {
		return true // of a kind that cannot be asked
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
