package transport

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/inbox"
	"skep/node/p2p/wire"
)

// read turns the frames of a peer's stream into events until the stream ends.
func (s *session) read(st network.Stream) {
	defer st.Reset()
	stop := context.AfterFunc(s.ctx, func() { st.Reset() })
	defer stop()
	select {
	case <-s.up: // the node is told that the peer is up before its first message
	case <-s.ctx.Done():
		return
	case <-time.After(helloDeadline):
		return
	}
	var meter meter
	codec, ads := wire.Codec{Specs: s.t.specs.open}, s.t.ads.opener(s.node)
	in, room, seat := newFrames(st), newInboundMemory(s.ctx, s.t.peers.inboundMemory), s.t.peers.conns.seatOf(st.Conn())
	in.memory = room
	defer room.releaseNow()
	for {
		room.releaseNow() // of a frame that became no event
		kind, body, err := in.next()
		if seat != nil {
			seat.Use(time.Now())
		}
		switch {
		case errors.Is(err, errOversize):
			s.t.Offend(s.node, "size", 4)
			return
		case errors.Is(err, errFraming):
			s.t.Offend(s.node, "framing", 4)
			return
		case errors.Is(err, errMalformed):
			s.t.Offend(s.node, "malformed", 1)
			continue
		case errors.Is(err, errUnknown):
			s.t.cfg.Drop("kind")
			continue
		case errors.Is(err, os.ErrDeadlineExceeded): // in the middle of a frame
			s.t.Offend(s.node, "slow", 2)
			return
		case err != nil:
			return
		}
		if !s.admit(&meter, kind) {
			continue
		}
		m := inbox.New()
		if err := codec.Decode(body, &m.Message, ads); err != nil {
			m.Free()
			s.countUndecodable(err)
			continue
		}
		if foreign(&m.Message, s.node, s.t.cfg.Self, s.t.cfg.Members) {
			if m.Message.Kind == grid.KindBeat { // of a worker that searches its job's owner, which this node does not know yet
				s.t.cfg.Drop("foreign")
				m.Free()
				continue
			}
			m.Free()
			s.t.Offend(s.node, "foreign", 1)
			continue
		}
		if dropUnsigned(&m.Message, s.node) {
			s.t.cfg.Drop("unsigned")
			m.Free()
			continue
		}
		if why := s.t.cfg.Credentials.Refuses(s.node, &m.Message); why != "" {
			s.t.cfg.Drop(why)
			m.Free()
			continue
		}
		if room.reserveDecoded(&m.Message) != nil {
			m.Free()
			return
		}
		s.t.counts.Received[kind].Add(1)
		s.t.counts.ReceivedBytes[kind].Add(uint64(len(body)))
		m.Event.Kind, m.Event.Peer, m.Event.Msg, m.OnFree = grid.EvMessage, s.node, &m.Message, room.release()
		if s.t.cfg.Inbox.Post(s.ctx, m) != nil {
			m.Free()
			return
		}
	}
}

// admit reports whether a frame is to be decoded; it may wait first.
func (s *session) admit(m *meter, kind grid.Kind) bool {
	switch {
	case kind == grid.KindCall || kind == grid.KindBye: // announcements only
		s.t.Offend(s.node, "misplaced", 1)
		return false
	case !limits[kind].wait:
		if m.of(kind).Allow() {
			return true
		}
		s.t.cfg.Drop("rate")
		return false
	}
	wait := m.of(kind).Reserve().Delay()
	if wait == 0 {
		return true
	}
	s.t.cfg.Drop("slowed")
	select {
	case <-time.After(wait):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// foreign reports whether a message is about attempts with which its sender has nothing to do. Only the origin of a
// job, or another member of its register, offers and ends the job's attempts and is told about them. The members
// are known from the job's records, or from the offer itself; the origin may have been replaced by another one.
func foreign(m *grid.Message, from, self grid.NodeID, kin *Members) bool {
	who := from
	switch m.Kind {
	case grid.KindOffer:
		id := m.Offer.ID.Task.Job
		return id.Origin != from && (len(m.Offer.Members) == 0 || m.Offer.Changes == 0 && m.Offer.Members[0] != id.Origin ||
			!slices.Contains(m.Offer.Members, from))
	case grid.KindAsk, grid.KindDrop, grid.KindResultAck, grid.KindVacate:
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindBeat:
		who = self
	default:
		return false
	}
	return slices.ContainsFunc(m.Attempts, func(a grid.AttemptID) bool {
		return a.Task.Job.Origin != who &&
			!kin.isMember(a.Task.Job, who)
	})
}

// dropUnsigned removes a job from a message that carries it without its origin's signature and is not from that origin:
// the sender may have forged it. It reports whether nothing is left of the message. Members of a register know the job
// already, so that one submitted to an older version, which did not sign, can still be taken over.
func dropUnsigned(m *grid.Message, from grid.NodeID) bool {
	unsigned := func(job grid.JobID, spec *grid.JobSpec) bool {
		return spec != nil && spec.Sealed == "" && job.Origin != from
	}
	if unsigned(m.Register.Job, m.Register.Spec) {
		m.Register.Spec, m.Register.Members = nil, m.Register.Members[:0]
	}
	return m.Kind == grid.KindOffer && unsigned(m.Offer.ID.Task.Job, m.Offer.Spec)
}

// countUndecodable counts a frame that could not be decoded. A kind unknown to this version is no offence.
func (s *session) countUndecodable(err error) {
	reason := wire.Reason(err)
	switch {
	case errors.Is(err, wire.ErrKind):
		s.t.cfg.Drop(reason)
	case errors.Is(err, wire.ErrSignature):
		s.t.Offend(s.node, reason, 4)
	default:
		s.t.Offend(s.node, reason, 1)
	}
}
