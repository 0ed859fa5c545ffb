package checkpoint

import (
	"fmt"
	"math"

	"skep/grid"
)

// What the checkpoints here are charged to. Those of jobs submitted here have a quota of their own, so that nobody uses
// it up; of those of others each owner gets half at most.

// ownFactor is how many checkpoints of the largest size the jobs submitted here may have at least, where the quota for
// others is small: it says nothing about them.
const ownFactor = 8

func (c *Config) ownQuota() grid.Bytes { return max(c.Quota, ownFactor*c.Limit) }

func (x *set) size() (sum grid.Bytes) {
	const block = 4 * grid.KiB // many small files must not be free
	sum = block
	for i := range x.files {
		sum += min(x.files[i].Size, 1<<50) + block
	}
	return sum
}

// room is what a set takes.
func (x *set) room() grid.Bytes {
	if x.step == 0 {
		return 0
	}
	return x.size()
}

// charge changes what is charged to the unit's payer.
func (s *Store) charge(u *unit, size grid.Bytes) {
	if u.payer.IsZero() || size == 0 {
		return
	}
	if s.charged == nil {
		s.charged = make(map[grid.NodeID]grid.Bytes)
	}
	s.total += size
	if s.charged[u.payer] += size; s.charged[u.payer] == 0 {
		delete(s.charged, u.payer)
	}
}

// admit charges a set that is to come; it returns why that is refused. The first owner that this node keeps something
// for pays, whoever owns the job later; this node pays for the jobs submitted here.
func (s *Store) admit(u *unit, x *set, owner grid.NodeID) (why grid.Refusal) {
	payer := u.payer
	if payer.IsZero() {
		payer = s.payer(u.id, owner)
	}
	size, own := x.size(), s.charged[s.cfg.Self]
	switch {
	case size > s.cfg.Limit:
		return tooLarge(size, s.cfg.Limit)
	case payer == s.cfg.Self && own+size > s.cfg.ownQuota():
		return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("checkpoints of jobs submitted here have %.1f of "+
			"at most %.1f MiB", mebi(own), mebi(s.cfg.ownQuota()))}
	case payer != s.cfg.Self && (s.total-own+size > s.cfg.Quota || s.charged[payer]+size > s.cfg.Quota/2):
		return grid.Refusal{Why: grid.WhyRoom}
	}
	u.payer = payer
	s.charge(u, size)
	return why
}

// payer returns who is charged for a task's checkpoints that an owner names.
func (s *Store) payer(id grid.TaskID, owner grid.NodeID) grid.NodeID {
	if id.Job.Origin == s.cfg.Self {
		return s.cfg.Self
	}
	return owner
}

func tooLarge(size, limit grid.Bytes) grid.Refusal {
	return grid.Refusal{Why: grid.WhyRoom,
		Detail: fmt.Sprintf("it has %.1f MiB, of at most %.1f that are kept", mebi(size), mebi(limit))}
}

func mebi(n grid.Bytes) float64 { return math.Round(float64(n)/float64(grid.MiB)*10) / 10 }
