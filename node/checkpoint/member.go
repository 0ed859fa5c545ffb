package checkpoint

import (
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// tell sends what is kept: to a member, which is to keep it too, or as a member to the owner, which is to know.
func (u *unit) tell(to grid.NodeID, kept bool, fx *grid.Effects) {
	m := fx.Send(to, grid.KindCheckpointKeep)
	m.Attempts = append(m.Attempts, grid.AttemptID{Task: u.id, Attempt: u.kept.by})
	m.Checkpoint = &grid.Checkpoint{Step: u.kept.step, Files: u.kept.files, Kept: kept, Shares: u.kept.shares}
}

// Keep takes what the owner asks a member to keep, or what a member tells the owner that it keeps.
func (s *Store) Keep(now grid.Time, from grid.NodeID, id grid.AttemptID, x *grid.Checkpoint, jobs Jobs,
	fx *grid.Effects) {
	j := jobs.Checkpointed(id.Task.Job)
	task, ranks := id.Task, 0
	if j.Spec != nil {
		task, ranks = unitOf(j.Spec, id.Task), ranksOf(j.Spec, id.Attempt)
	}
	switch {
	case x == nil || j.Spec == nil || id.Task != task || id.Task.Index >= j.Spec.Count || x.Step == 0 ||
		!validSet(x.Files, ranks) || !validShares(x.Shares, ranks) || !slices.Contains(j.Members, from) ||
		from == s.cfg.Self || jobs.Over(task):
		s.stale++
	case x.Kept && j.Leads:
		s.memberKeeps(now, from, id, x, &j, jobs, fx)
	case !x.Kept && !j.Leads && from == j.Owner:
		s.keepFor(now, from, id, x, &j, fx)
	default:
		s.stale++
	}
}

// validSet reports whether files can be those of a whole checkpoint.
func validSet(files []grid.File, ranks int) bool {
	if len(files) > grid.MaxCheckpointFiles {
		return false
	}
	for i := range files {
		f := &files[i]
		number, rest, found := strings.Cut(f.Path, "/")
		rank, err := strconv.ParseUint(number, 10, 32)
		if !found || err != nil || rank >= uint64(ranks) || strconv.FormatUint(rank, 10) != number || !validPath(rest) ||
			f.Blob.IsZero() || f.Size < 0 {
			return false
		}
	}
	return true
}

// validShares reports whether shares are those of all ranks, or none.
func validShares(shares []uint32, ranks int) bool { return len(shares) == 0 || len(shares) == ranks }

// setOf returns the set that a message names.
func setOf(by grid.Attempt, x *grid.Checkpoint) set {
	return set{by, x.Step, slices.Clone(x.Files), slices.Clone(x.Shares)}
}

// keepFor has this node, a member, keep what the owner names. What it keeps of a later attempt, or a later step of the
// same one, stays.
func (s *Store) keepFor(now grid.Time, owner grid.NodeID, id grid.AttemptID, x *grid.Checkpoint, j *Job,
	fx *grid.Effects) {
	u := s.look(id.Task)
	u.gather, u.copies = nil, nil
	s.unclaim(u)
	want := setOf(id.Attempt, x)
	switch {
	case u.kept.is(want.by, want.step):
		u.told = owner
		s.answer(owner, id, x.Step, grid.Refusal{}, fx)
	case !u.kept.newer(want.by, want.step):
		u.tell(owner, true, fx)
	case u.coming.step != 0: // of what comes it is told when that is here
		if !u.coming.is(want.by, want.step) {
			s.witness.saw(owner, u.id, want.name())
			s.answer(owner, id, x.Step, grid.Refusal{Why: grid.WhyQueue}, fx)
		}
	default:
		s.witness.saw(owner, u.id, want.name())
		if why := s.admit(u, &want, owner); why.Why != grid.WhyNone {
			s.answer(owner, id, x.Step, why, fx)
			return
		}
		s.add(u)
		u.coming, u.told = want, owner
		u.fetch(&want, owner, j.Members, fx)
	}
	s.setTimer(now, fx)
}

// answer tells the owner that a checkpoint is kept here, or why not.
func (s *Store) answer(to grid.NodeID, id grid.AttemptID, step uint64, why grid.Refusal, fx *grid.Effects) {
	m := fx.Send(to, grid.KindCheckpointKeep)
	m.Attempts, m.Checkpoint = append(m.Attempts, id), &grid.Checkpoint{Step: step, Kept: true, Refusal: why}
}

// memberKeeps takes, as the owner, what a member says that it keeps: the answer to a request, or, after a takeover,
// what an earlier owner has had it keep.
func (s *Store) memberKeeps(now grid.Time, from grid.NodeID, id grid.AttemptID, x *grid.Checkpoint, j *Job, jobs Jobs,
	fx *grid.Effects) {
	u := s.look(id.Task)
	at := slices.Index(j.Members, from)
	if c := u.copies; c != nil && u.kept.by == id.Attempt && c.step == x.Step && at < len(c.asked) {
		switch {
		case x.Refusal.Why == grid.WhyNone:
			c.have |= 1 << at
		case x.Refusal.Why != grid.WhyQueue:
			c.refused |= 1 << at
		}
		if len(x.Files) > 0 { // it shall not say so again
			u.tell(from, false, fx)
		}
		s.spread(now, u, j, fx)
		u.orderAll(fx)
		return
	}
	switch {
	case len(x.Files) == 0 || x.Refusal.Why != grid.WhyNone:
		s.stale++
	case !u.kept.newer(id.Attempt, x.Step):
		u.tell(from, false, fx)
	case id.Epoch < j.Since && s.early(u, j, jobs):
		told := setOf(id.Attempt, x)
		s.hear(now, from, u, &told, j, fx)
	}
}

// hear takes, as an owner that has made no attempt yet, what a member tells of an earlier owner's checkpoint.
func (s *Store) hear(now grid.Time, from grid.NodeID, u *unit, x *set, j *Job, fx *grid.Effects) {
	if s.believes(u, from, x) && s.admit(u, x, u.id.Job.Origin).Why == grid.WhyNone {
		s.add(u)
		s.unclaim(u)
		u.coming = *x
		u.fetch(x, from, j.Members, fx)
	}
	if !u.empty() {
		s.add(u)
		s.setTimer(now, fx)
	}
}

// Fetched continues after the files of a checkpoint have come, or could not; it has asked for them.
func (s *Store) Fetched(now grid.Time, ev *grid.Event, jobs Jobs, fx *grid.Effects) {
	u := s.units[ev.Attempt.Task]
	if u != nil && s.looked(u, ev, fx) {
		return
	}
	if u == nil || !u.coming.is(ev.Attempt.Attempt, ev.Step) {
		return
	}
	j, g := jobs.Checkpointed(u.id.Job), u.gather
	gathered := g != nil && u.coming.is(g.attempt, g.step)
	switch {
	case j.Spec == nil:
		s.forgo(u)
	case ev.Err != "" && gathered:
		s.forgo(u)
		if g.tries++; g.tries >= maxTries {
			s.abandon(u, "its files did not come: "+ev.Err)
		}
	case ev.Err != "":
		s.forgo(u)
		if !j.Leads && !u.told.IsZero() {
			s.answer(u.told, ev.Attempt, ev.Step, grid.Refusal{Why: grid.WhyQueue}, fx)
		}
	case gathered && j.Leads:
		s.whole(now, u, &j, fx)
	case j.Leads:
		s.keep(u, fx)
		u.copies = newCopies(now, s.cfg, u, j.Members)
		s.spread(now, u, &j, fx)
	default:
		s.keep(u, fx)
		if !u.told.IsZero() {
			s.answer(u.told, ev.Attempt, ev.Step, grid.Refusal{}, fx)
		}
	}
	u.orderAll(fx)
}

// Tick repeats what is unanswered, and drops what is not needed any more.
func (s *Store) Tick(now grid.Time, jobs Jobs, fx *grid.Effects) {
	s.wake = false
	for _, u := range slices.Clone(s.order) {
		j := jobs.Checkpointed(u.id.Job)
		if s.units[u.id] != u { // dropped meanwhile
			continue
		}
		if j.Leads && jobs.Newest(u.id).Epoch >= j.Since {
			s.unclaim(u)
		}
		switch {
		case j.Spec == nil || jobs.Over(u.id):
			s.witness.forget(u.id)
			s.drop(u, fx)
		case !j.Leads:
			u.gather, u.copies, u.given, u.from, u.blame = nil, nil, grid.Attempt{}, set{}, blame{}
			s.unclaim(u)
			u.tellOwner(j.Owner, fx)
		case u.kept.step == 0:
		default:
			if u.copies == nil { // this node was restarted, or is the owner since
				u.copies = newCopies(now, s.cfg, u, j.Members)
			}
			s.spread(now, u, &j, fx)
			u.orderAll(fx)
		}
		if u.empty() && s.units[u.id] == u {
			s.drop(u, fx)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(u *unit) bool { return s.units[u.id] != u })
	s.setTimer(now, fx)
}

// tellOwner tells an owner that does not know it what is kept here: at ticks 1, 2, 4, 8 and so on.
func (u *unit) tellOwner(owner grid.NodeID, fx *grid.Effects) {
	if u.kept.step == 0 || owner.IsZero() || owner == u.told {
		return
	}
	if u.to != owner {
		u.to, u.ticks = owner, 0
	}
	if u.ticks++; u.ticks&(u.ticks-1) == 0 {
		u.tell(owner, true, fx)
	}
}
