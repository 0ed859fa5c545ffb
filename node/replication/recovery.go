package replication

import (
	"slices"

	"skep/grid"
	"skep/node/failures"
	"skep/sparse"
)

// How a member recovers a register of which it has lost records, because what its disk returns is not what was written.
//
// It does not know what it has promised, or what it has accepted: a vote or an answer to a write could contradict what
// it said before. So it takes no part: it answers no campaign and no keepalive for the register, and to a write that
// the register is not known here, which has the owner describe the job. It asks all other members, by a campaign for
// epoch 0 that says so (RegisterMessage.Recall), what they have promised and accepted. A majority of them would not do.
// Whoever it may have voted for had promised that epoch to itself before it asked, and that one has to answer; so does
// a member that has accepted each write which this one accepted.
//
// When all have answered, what they know holds here too. It has promised an epoch above all of theirs, to nobody: so
// the next owner is one that was elected since, and if this member was the owner itself, it does not go on with an
// epoch of whose attempts it knows nothing.
//
// Where a member is gone for good, or this node kept the register alone, it stays as it is: no answer, rather than
// another one.
type recovery struct {
	job       grid.JobID
	own       *grid.RegisterRecord // what this node had on disk, if that is not what it has lost
	spec      *grid.JobSpec        // nil = nobody has described the job yet
	members   []grid.NodeID
	submitted int64
	verified  bool // this node's own record, or the job's origin, names the members
	left      []grid.Entry
	answers   []recalled // by place
	accepted  campaign   // what any of them has accepted
	outcome   campaign   // what those hold to whom the job is closed
}

// recalled is the answer of a member, from all pages.
type recalled struct {
	answer   grid.RegisterAnswer // 0 = none yet
	next     uint32              // first missing entry
	complete bool
	promised uint32
	state    grid.RegisterState // Epoch, Owner and Opened
}

// recovering returns what is known of a register that is lost here; nil = it is not.
func (s *Replicas) recovering(id grid.JobID) *recovery {
	at := slices.IndexFunc(s.lost, func(v *recovery) bool { return v.job == id })
	if at < 0 {
		return nil
	}
	return s.lost[at]
}

// Lose records that this node has lost records of a register, or the tombstone of one. It comes before the records that
// are left of it.
func (s *Replicas) Lose(id grid.JobID) {
	if s.recovering(id) == nil {
		s.lost = append(s.lost, &recovery{job: id})
	}
}

// Loses takes a record of which only the key could be read, and returns its kind; 0 if the record can be read. Of an
// attempt work is told.
func (s *Replicas) Loses(r *grid.Record, work func(grid.AttemptID)) grid.RecordKind {
	if !r.Lost {
		return 0
	}
	switch r.Kind {
	case grid.RecWork:
		work(r.Work.ID)
	case grid.RecRegister:
		s.Lose(r.Register.ID)
	case grid.RecEntry:
		s.Lose(r.Entry.ID.Task.Job)
	case grid.RecTombstone:
		s.Lose(r.Tombstone.ID)
	}
	return r.Kind
}

// Lost reports whether what is known here of a register is not to be used.
func (s *Replicas) Lost(id grid.JobID) bool { return len(s.lost) > 0 && s.recovering(id) != nil }

// AnyLost reports whether a register is to be recovered from other members.
func (s *Replicas) AnyLost() bool {
	return slices.ContainsFunc(s.lost, func(v *recovery) bool { return len(v.members) > 1 })
}

// KeepRegister keeps the record of a register that is lost, and reports whether it is.
func (s *Replicas) KeepRegister(r *grid.RegisterRecord) bool {
	v := s.recovering(r.ID)
	if v == nil {
		return false
	}
	v.own, v.verified = r, true
	v.describe(r.Spec, r.Members, r.Submitted)
	return true
}

// KeepEntry does so for an entry.
func (s *Replicas) KeepEntry(r *grid.EntryRecord) bool {
	v := s.recovering(r.ID.Task.Job)
	if v == nil {
		return false
	}
	if e := r.Entry(); e != nil {
		v.left = append(v.left, *e)
	}
	return true
}

func (v *recovery) describe(spec *grid.JobSpec, members []grid.NodeID, submitted int64) {
	v.spec, v.members, v.submitted = spec, slices.Clone(members), submitted
	v.answers = make([]recalled, len(members))
	v.accepted.entries = sparse.Make[*grid.Entry](spec.Entries())
	v.outcome.entries = sparse.Make[*grid.Entry](spec.Entries())
}

// RefuseLost answers an owner's write or a member's campaign about a register that is lost here, and reports whether it
// is. Who describes the job is asked for what it knows.
func (s *Replicas) RefuseLost(now grid.Time, from grid.NodeID, kind grid.Kind, g *grid.RegisterMessage,
	fx *grid.Effects) bool {
	v := s.recovering(g.Job)
	if v == nil {
		return false
	}
	if fromOrigin := from == g.Job.Origin; g.Spec != nil && g.Spec.Check() == nil && !v.verified &&
		(v.spec == nil || fromOrigin) && grid.ValidMembers(g.Job, from, g.Members) &&
		slices.Contains(g.Members, s.cfg.Self) {
		v.describe(g.Spec, g.Members, s.wall.At(now).UnixNano()-int64(g.Age))
		v.verified = fromOrigin
		v.ask(slices.Index(v.members, from), fx)
	}
	if kind == grid.KindWriteAck { // to a campaign it would say that the job is long over
		s.Refuse(from, kind, g, grid.RegisterUnknown, fx)
	}
	return true
}

// Recall asks the other members of registers that are lost here. reach requests a connection, and reports whether there
// is or may be one.
func (s *Replicas) Recall(reach func(grid.JobID, grid.NodeID) bool, fx *grid.Effects) {
	for _, v := range s.lost {
		for place, id := range v.members {
			if id != s.cfg.Self && !v.answers[place].complete && reach(v.job, id) {
				v.ask(place, fx)
			}
		}
	}
}

func (v *recovery) ask(place int, fx *grid.Effects) {
	m := &fx.Send(v.members[place], grid.KindCampaign).Register
	m.Job, m.Recall, m.Next, m.Seq = v.job, true, v.answers[place].next, uint64(v.answers[place].next)
	m.Members = append(m.Members[:0], v.members...)
}

// AnswerRecall tells a member that has lost the register what this one has promised and accepted.
func (r *Replica) AnswerRecall(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	if r.Place(from) < 0 || !slices.Equal(g.Members, r.members) {
		answer(r, from, grid.KindVote, g, grid.RegisterUnknown, fx)
		return
	}
	a := grid.RegisterOK
	if r.state.Done {
		a = grid.RegisterDone
	}
	m := answer(r, from, grid.KindVote, g, a, fx)
	m.Epoch, m.Count, m.Owner, m.Opened = r.state.Promised, r.state.Epoch, r.state.Owner, r.state.Opened
	r.Page(g.Next, m)
	ConvertTimes(r.of.wall.At(now).UnixNano(), m.Entries)
}

// Recalled takes a member's answer, and reports whether it is one about a register that is lost here.
func (s *Replicas) Recalled(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) bool {
	v := s.recovering(g.Job)
	if v == nil {
		return g.Recall // a repeated answer
	}
	place := slices.Index(v.members, from)
	if !g.Recall || place < 0 || from == s.cfg.Self {
		return true
	}
	a := &v.answers[place]
	if a.complete || g.Seq != uint64(a.next) || g.More && g.Next <= a.next || v.impossible(g.Entries) {
		return true
	}
	switch g.Answer {
	case grid.RegisterOK, grid.RegisterDone:
		ConvertTimes(s.wall.At(now).UnixNano(), g.Entries)
		v.accepted.merge(g.Entries)
		if g.Answer == grid.RegisterDone {
			v.outcome.merge(g.Entries)
		}
		a.answer, a.next, a.complete, a.promised = g.Answer, g.Next, !g.More, max(a.promised, g.Epoch)
		a.state = grid.RegisterState{Epoch: g.Count, Owner: g.Owner, Opened: g.Opened}
		if g.More {
			v.ask(place, fx)
		}
	case grid.RegisterUnknown:
		if place == 0 && !v.verified { // these are not the members
			v.spec, v.members, v.answers = nil, nil, nil
			return true
		}
		a.answer, a.complete = g.Answer, true
	case grid.RegisterGone:
		a.answer, a.complete, a.state.Epoch, a.state.Opened = g.Answer, true, g.Epoch, g.Opened
	default:
		return true
	}
	return true
}

// impossible reports whether no honest member can have accepted these entries.
func (v *recovery) impossible(entries []grid.Entry) bool {
	return slices.ContainsFunc(entries, func(e grid.Entry) bool { return !failures.Possible(v.spec, &e, e.Epoch) })
}

// answered reports whether all other members have answered, and one of them knows of the job.
func (v *recovery) answered(self grid.NodeID) bool {
	known := false
	for place, id := range v.members {
		if a := &v.answers[place]; id != self {
			if !a.complete {
				return false
			}
			known = known || a.answer != grid.RegisterUnknown
		}
	}
	return known
}
