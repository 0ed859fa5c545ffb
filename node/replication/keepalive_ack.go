package replication

import (
	"slices"

	"skep/grid"
)

// KeepaliveAnswer is what a member's answer to a keepalive has shown.
type KeepaliveAnswer struct {
	Forged  bool // this node never sent the keepalive
	Alive   bool // the member is alive
	Revived bool // Alive, and it was not known to be
	Agrees  bool // quorum leases may have been renewed
}

// KeepaliveAnswered takes a member's answer to a keepalive.
func (s *Replicas) KeepaliveAnswered(now grid.Time, from grid.NodeID, m *grid.Message,
	fx *grid.Effects) (a KeepaliveAnswer) {
	p := s.by.Get(from)
	if p == nil || !p.openKeepalives.take(m.Register.Seq) {
		a.Forged = s.neverSent(p, m.Register.Seq)
		return a
	}
	a.Alive, a.Revived = true, !s.IsAlive(now, from)
	p.room, p.lastAlive = m.Register.Room, now // a late answer, too, proves it alive
	if m.Register.Seq != p.keepaliveSeq {
		return a
	}
	p.keepaliveSeq = 0
	if m.Register.Answer == grid.RegisterDiffers {
		s.listRegisters(now, p, fx)
		return a
	}
	a.Agrees = true
	if len(p.listed) == 0 {
		p.leaseVerified = max(p.leaseVerified, p.keepaliveSent)
	}
	for _, r := range p.listed {
		place := r.Place(from)
		if place < 0 { // it was replaced since
			continue
		}
		if !slices.ContainsFunc(m.Attempts, func(x grid.AttemptID) bool { return x.Task.Job == r.id }) {
			r.acked[place] = max(r.acked[place], p.keepaliveSent)
		} else if r.writeSent[place] == 0 && r.IsOwner() {
			r.ResetProgress(place)
			r.MarkDirty()
		}
	}
	clear(p.listed)
	p.listed = p.listed[:0]
	return a
}

// listRegisters lists, one by one, the registers that the member should hold.
func (s *Replicas) listRegisters(now grid.Time, p *coMember, fx *grid.Effects) {
	m := s.sendKeepalive(now, p, digest{}, fx)
	for _, r := range s.With(p.peer) {
		if !r.Leads() || !r.HasAccepted(r.Place(p.peer)) {
			continue
		}
		if m.Register.More = len(m.Attempts) == grid.MaxBeats; m.Register.More {
			return
		}
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: r.id},
			Attempt: grid.Attempt{Epoch: r.State().Epoch}})
		p.listed = append(p.listed, r)
	}
}
