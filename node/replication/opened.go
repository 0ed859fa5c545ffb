package replication

import (
	"slices"

	"skep/grid"
)

// How a member makes sure that a task which has ended here does not go on elsewhere.
//
// A retry opens the register (reopen.go), and a member that is cut off does not hear of it: it may even have been the
// owner. So what it knows of ends is current only if a majority of the members, asked since, knows of no further
// opening: each opening is known to a majority before a retry is committed. The question is a campaign for epoch 0,
// which nobody votes for: every version answers it with the number of openings that it knows.
//
// A member that answers is for or against:
//
//   - a majority is for (this member is one): current, whoever is against. Their opening is not known to a majority, so
//     no retry was committed when it was asked, and one that is later comes after the question;
//   - so many are against that no majority can be for: outdated. So one member that lies, or that alone has opened the
//     register, does not decide while the others answer;
//   - neither until the deadline: outdated if somebody is against, else uncertain. So every question ends.
//
// One that has no register of the job is neither: it may have lost its data, and what it knew of an opening. A member
// that is done with a job has a tombstone, which answers with the openings. Of very many the oldest go, and then the
// question ends as uncertain. A member that is alone is not asked.

// question is a caller's question whether the register is current.
type question struct {
	replica *Replica
	caller  uint64
	until   grid.Time
	seq     uint64
	opened  uint32 // times that the register was opened when it was asked
	// bit sets of the members, by place: those that know of no other opening, and those that do; none is in both
	agreed, disagreed uint8
}

// AskOpened has a caller told by RegisterCurrent, RegisterOutdated or, at the latest at a time, RegisterUncertain
// whether the ends that are known here are current. members are those that are connected or being dialled.
func (r *Replica) AskOpened(caller uint64, until grid.Time, members []grid.NodeID, fx *grid.Effects) {
	q := &question{replica: r, caller: caller, until: until, seq: r.of.nextTerm(), opened: r.state.Opened,
		agreed: r.bit()}
	r.of.questions = append(r.of.questions, q)
	q.send(members, fx)
}

// send asks the members that have not answered.
func (q *question) send(members []grid.NodeID, fx *grid.Effects) {
	r := q.replica
	for _, id := range members {
		if place := r.Place(id); place != r.self && (q.agreed|q.disagreed)&(1<<place) == 0 && r.mayTell(id) {
			m := &fx.Send(id, grid.KindCampaign).Register
			m.Job, m.Seq, m.Opened, m.Next = r.id, q.seq, q.opened, uint32(r.slots.Len())
		}
	}
}

// Asking lists the replicas with questions that are not answered, each once.
func (s *Replicas) Asking() (rs []*Replica) {
	for _, q := range s.questions {
		if !slices.Contains(rs, q.replica) {
			rs = append(rs, q.replica)
		}
	}
	return rs
}

// RepeatOpened asks again what is not answered, and gives up what was asked for too long.
func (r *Replica) RepeatOpened(now grid.Time, members []grid.NodeID, fx *grid.Effects) {
	for _, q := range slices.Clone(r.of.questions) {
		switch {
		case q.replica != r:
		case q.opened != r.state.Opened, now >= q.until && q.disagreed != 0:
			q.answer(grid.RegisterOutdated)
		case now >= q.until:
			q.answer(grid.RegisterUncertain)
		default:
			q.send(members, fx)
		}
	}
}

// OpenedAnswered takes a member's answer to a question, and reports whether it is one.
func (r *Replica) OpenedAnswered(from grid.NodeID, a *grid.RegisterMessage) bool {
	if a.Seq <= uint64(grid.MaxEntryIndex)+1 { // a vote: the number of an entry
		return false
	}
	at, place := slices.IndexFunc(r.of.questions, func(q *question) bool { return q.seq == a.Seq }), r.Place(from)
	if at < 0 || place < 0 || place == r.self || r.of.questions[at].replica != r {
		return true
	}
	q := r.of.questions[at]
	if q.opened != r.state.Opened {
		q.answer(grid.RegisterOutdated)
		return true
	}
	switch a.Answer {
	case grid.RegisterHigher, grid.RegisterDone, grid.RegisterGone:
	default: // it says nothing of openings
		return true
	}
	q.agreed, q.disagreed = q.agreed&^(1<<place), q.disagreed&^(1<<place)
	if q.disagrees(a) {
		q.disagreed |= 1 << place
	} else {
		q.agreed |= 1 << place
	}
	switch {
	case r.seats.Decides(q.agreed):
		q.answer(grid.RegisterCurrent)
	case !r.seats.Decides(^q.disagreed):
		q.answer(grid.RegisterOutdated)
	}
	return true
}

// disagrees reports whether a member knows of another opening than this one. Two members may open a register for the
// same time, in different epochs; of one that is closed again nothing goes on.
func (q *question) disagrees(a *grid.RegisterMessage) bool {
	return a.Opened > q.opened || a.Opened == q.opened && q.opened > 0 && a.Answer == grid.RegisterHigher &&
		a.Epoch > q.replica.state.Epoch
}

// answer closes a question.
func (q *question) answer(k grid.RegisterChangeKind) {
	s := q.replica.of
	s.questions = slices.DeleteFunc(s.questions, func(x *question) bool { return x == q })
	s.changes.Add(grid.RegisterChange{Kind: k, Job: q.replica.id, Caller: q.caller})
}
