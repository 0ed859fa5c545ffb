package p2p

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// read turns what the peer says into events until its stream ends.
func (s *session) read(st network.Stream) {
	defer st.Reset()
	stop := context.AfterFunc(s.ctx, func() { st.Reset() })
	defer stop()
	select {
	case <-s.up: // so that the node hears of the peer before it hears from it
	case <-s.ctx.Done():
		return
	case <-time.After(helloDeadline):
		return
	}
	var meter meter
	var codec wire.Codec
	for in := newFrames(st); ; {
		kind, body, err := in.next()
		switch {
		case errors.Is(err, errOversize):
			s.d.offend(s.node, "size", 4)
			return
		case errors.Is(err, errFraming):
			s.d.offend(s.node, "framing", 4)
			return
		case errors.Is(err, errRubbish):
			s.d.offend(s.node, "malformed", 1)
			continue
		case errors.Is(err, errUnknown):
			s.d.counts.drop("kind")
			continue
		case err != nil:
			return
		}
		if !s.admit(&meter, kind) {
			continue
		}
		m := newInput()
		if err := codec.Decode(body, &m.msg, s.d.ads.open); err != nil {
			m.free()
			s.bad(err)
			continue
		}
		s.d.counts.received[kind].Add(1)
		s.d.counts.receivedBytes[kind].Add(uint64(len(body)))
		m.ev.Kind, m.ev.Peer, m.ev.Msg = grid.EvMessage, s.node, &m.msg
		if s.d.loop.post(s.ctx, m) != nil {
			return
		}
	}
}

// admit reports whether a frame is to be decoded now; it may wait first.
func (s *session) admit(m *meter, kind grid.Kind) bool {
	switch {
	case kind == grid.KindCall || kind == grid.KindBye: // these are announced, never said
		s.d.offend(s.node, "misplaced", 1)
		return false
	case !limits[kind].wait:
		if m.of(kind).Allow() {
			return true
		}
		s.d.counts.drop("rate")
		return false
	}
	wait := m.of(kind).Reserve().Delay()
	if wait == 0 {
		return true
	}
	s.d.counts.drop("slowed")
	select {
	case <-time.After(wait):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// bad counts a frame that could not be decoded. A kind that this version does not know is no offence.
func (s *session) bad(err error) {
	reason := wire.Reason(err)
	switch {
	case errors.Is(err, wire.ErrKind):
		s.d.counts.drop(reason)
	case errors.Is(err, wire.ErrSignature):
		s.d.offend(s.node, reason, 4)
	default:
		s.d.offend(s.node, reason, 1)
	}
}
