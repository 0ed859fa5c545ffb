package node

import (
	"slices"

	"skep/grid"
)

// watch tells each member of registers that this node owns that it lives: their number and the sum of their hashes, so
// that the cost does not grow with the jobs that wait.
func (n *Node) watch(now grid.Time, fx *grid.Effects) {
	n.shareOut()
	n.pairs.all = slices.DeleteFunc(n.pairs.all, func(p *pair) bool {
		if n.watchOver(now, p, p.shares, fx) || p.lent > 0 || p.coming > 0 || max(p.heard, p.verified, p.alive, p.sent).Add(100*n.cfg.Lease) >= now {
			return false
		}
		n.pairs.by.drop(p.peer) // what is long past means the same as nothing
		return true
	})
}

// watchOver is watch of one member. It reports whether there is anything to tell it.
func (n *Node) watchOver(now grid.Time, p *pair, s sharing, fx *grid.Effects) bool {
	switch {
	case s.count > 0:
		n.sendWatch(now, p, s, fx)
	case len(p.listed) > 0 && now >= p.sent.Add(n.cfg.Lease): // an answer would tell nothing any more
		p.seq, p.listed = 0, nil
	}
	return s.count > 0
}

// reunite says again at once what a member that is connected again has perhaps not heard: a majority may wait for it.
func (n *Node) reunite(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, j := range n.with(id) {
		if place := j.guard.reg.Place(id); j.guard.reg.Leads() && j.guard.sent[place] != 0 {
			n.writeAgain(now, j, place, fx)
		}
	}
	if p := n.pairs.by.get(id); p != nil {
		n.watchOver(now, p, n.shared(id), fx)
	}
}

// sendWatch says what a member should hold; nothing where the registers are named one by one.
func (n *Node) sendWatch(now grid.Time, p *pair, s sharing, fx *grid.Effects) *grid.Message {
	n.watches++
	clear(p.listed)
	p.seq, p.sent, p.listed = n.cfg.Boot<<40|n.watches, now, p.listed[:0]
	p.asked.ask(p.seq)
	m := fx.Send(p.peer, grid.KindWatch)
	m.Guard.Seq, m.Guard.Count, m.Guard.Sum = p.seq, s.count, s.sum
	return m
}

// shared counts the registers that this node owns and that a peer has accepted.
func (n *Node) shared(peer grid.NodeID) (s sharing) {
	for _, j := range n.with(peer) {
		if r := j.guard.reg; j.owned() && r.Holds(r.Place(peer)) {
			s.add(j)
		}
	}
	return s
}

// shareOut is shared for all peers, in one pass: each register has a few members, and the peers can be many.
func (n *Node) shareOut() {
	for _, p := range n.pairs.all {
		p.shares = sharing{}
	}
	for _, j := range n.guards {
		r := j.guard.reg
		if !j.owned() {
			continue
		}
		for place, id := range r.Members() {
			if !r.Holds(place) {
				continue
			}
			if p := n.pairs.by.get(id); p != nil {
				p.shares.add(j)
			}
		}
	}
}

// hash is one of a register in an epoch; sums of them do not depend on any order.
func hash(id grid.JobID, epoch uint32) uint64 {
	h := uint64(14695981039346656037) ^ uint64(epoch)
	for _, b := range id.Nonce {
		h = (h ^ uint64(b)) * 1099511628211
	}
	for _, b := range id.Origin {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h ^ h>>31
}

// follows reports whether this node is a member that takes part in an epoch of that owner.
func (j *job) follows(owner grid.NodeID) bool {
	s := j.guard.reg.State()
	return !s.Done && s.Owner == owner && s.Promised == s.Epoch && j.guard.boss == owner
}

// watched answers an owner. It is held to be alive if what it says is what is held here.
func (n *Node) watched(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if len(m.Attempts) > 0 {
		n.named(now, from, m, fx)
		return
	}
	var s sharing
	for _, j := range n.with(from) {
		if j.follows(from) {
			s.add(j)
		}
	}
	a := fx.Send(from, grid.KindWatched)
	a.Guard.Seq, a.Guard.Answer, a.Guard.Room = m.Guard.Seq, grid.GuardDiffers, n.spaceFor(from)
	if s.count == m.Guard.Count && s.sum == m.Guard.Sum {
		a.Guard.Answer = grid.GuardOK
		n.pair(from).heard = now
	}
}

// named answers an owner that names its registers one by one: those that are not held so here are named back.
func (n *Node) named(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	a := fx.Send(from, grid.KindWatched)
	a.Guard.Seq, a.Guard.Answer, a.Guard.Room = m.Guard.Seq, grid.GuardOK, n.spaceFor(from)
	said := make(map[grid.JobID]bool, len(m.Attempts))
	for _, x := range m.Attempts {
		id := x.Task.Job
		said[id] = true
		j := n.job(id)
		if j == nil || j.guard == nil || !j.follows(from) || j.guard.reg.State().Epoch != x.Epoch {
			a.Attempts = append(a.Attempts, x)
		}
	}
	n.pair(from).heard = now
	for _, j := range n.with(from) {
		if j.follows(from) {
			j.guard.orphan = !m.Guard.More && !said[j.id]
		}
	}
}

// agreed takes a member's answer to a watch.
func (n *Node) agreed(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	p := n.pairs.by.get(from)
	if p == nil || !p.asked.answered(m.Guard.Seq) {
		if n.neverAsked(p, m.Guard.Seq) {
			n.unasked(from, fx)
		}
		return
	}
	p.room = m.Guard.Room
	n.present(now, p, fx) // also a late answer shows that it lives
	if m.Guard.Seq != p.seq {
		return
	}
	p.seq = 0
	if m.Guard.Answer == grid.GuardDiffers {
		n.name(now, p, fx)
		return
	}
	if len(p.listed) == 0 {
		p.verified = max(p.verified, p.sent)
	}
	for _, j := range p.listed {
		place := j.guard.reg.Place(from)
		if !slices.ContainsFunc(m.Attempts, func(x grid.AttemptID) bool { return x.Task.Job == j.id }) {
			j.guard.fresh[place] = max(j.guard.fresh[place], p.sent)
		} else if j.guard.sent[place] == 0 && j.guard.reg.Leads() {
			j.guard.reg.Doubt(place)
			n.unsaid(j)
		}
	}
	clear(p.listed)
	p.listed = p.listed[:0]
	n.resumeStalled(now)
}

// name says one by one which registers a member is believed to hold.
func (n *Node) name(now grid.Time, p *pair, fx *grid.Effects) {
	m := n.sendWatch(now, p, sharing{}, fx)
	for _, j := range n.with(p.peer) {
		r := j.guard.reg
		if !j.owned() || !r.Holds(r.Place(p.peer)) {
			continue
		}
		if m.Guard.More = len(m.Attempts) == grid.MaxBeats; m.Guard.More {
			return
		}
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: j.id}, Attempt: grid.Attempt{Epoch: r.State().Epoch}})
		p.listed = append(p.listed, j)
	}
}
