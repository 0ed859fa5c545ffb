package checkpoint

import (
	"fmt"
	"strings"

	"skep/grid"
)

// A checkpoint that attempts cannot begin from: after some have failed to, it is given to no further one.

// Bounds of how often an attempt may fail to begin from a checkpoint: on several nodes, or on one.
const (
	maxFailed     = 2
	maxFailedHere = 3
)

// blame counts the attempts that could not begin from what is kept.
type blame struct {
	failed  int
	by      grid.NodeID // the first
	several bool        // there was another one
	checked bool        // this node is looking whether the files can still be had, or has
	why     string      // one was given up, and no newer one is kept
}

// Failed takes that a worker could not prepare or execute an attempt, with its words, which only hint at the reason.
// The owner looks itself whether the files can still be had. It believes no worker alone that they cannot be used.
func (s *Store) Failed(spec *grid.JobSpec, id grid.AttemptID, worker grid.NodeID, why string, members []grid.NodeID,
	fx *grid.Effects) {
	task := unitOf(spec, id.Task)
	u := s.units[task]
	if u == nil || u.kept.step == 0 || !u.beganFromKept(id.Attempt) ||
		!strings.HasPrefix(why, "checkpoint: ") && !strings.Contains(why, grid.CheckpointFolder) {
		return
	}
	b := &u.blame
	if b.failed++; b.failed == 1 {
		b.by = worker
	}
	b.several = b.several || worker != b.by
	if b.several && b.failed >= maxFailed || b.failed >= maxFailedHere {
		s.forsake(u, why, fx)
		return
	}
	if !b.checked {
		b.checked = true
		u.fetch(&u.kept, worker, members, fx)
	}
}

// looked continues after this node has looked whether what it keeps can still be had; it reports whether it has.
func (s *Store) looked(u *unit, ev *grid.Event, fx *grid.Effects) bool {
	if !u.blame.checked || !u.kept.is(ev.Attempt.Attempt, ev.Step) {
		return false
	}
	if ev.Err != "" {
		s.forsake(u, ev.Err, fx)
	}
	return true
}

// forsake gives up what is kept: further attempts begin at the start, until one has left a new checkpoint.
func (s *Store) forsake(u *unit, why string, fx *grid.Effects) {
	u.blame = blame{why: grid.Clean(fmt.Sprintf("%d was given up, no attempt can begin from it: %s", u.kept.step, why),
		grid.MaxText)}
	s.deleteKept(u, fx)
	s.charge(u, -u.kept.room())
	u.kept, u.copies = set{}, nil
}
