package node

import (
	"skep/fifo"
	"skep/grid"
)

// repeatedResults remembers the unwanted results that came. The sender of each is told so, and an honest one then
// forgets the result: a sender that repeats it many times does so on purpose.
type repeatedResults struct {
	times fifo.Map[repeatedResult, int]
}

type repeatedResult struct {
	from grid.NodeID
	id   grid.AttemptID
}

const (
	maxRepeated = 256
	maxRepeats  = 8 // repeats that lost answers can explain
)

// count counts an unwanted result, and reports whether it has come too often.
func (r *repeatedResults) count(from grid.NodeID, id grid.AttemptID) bool {
	x := repeatedResult{from, id}
	if times := r.times.Get(x); times != nil {
		*times++
		return *times > maxRepeats
	}
	if r.times.Len() == maxRepeated {
		r.times.RemoveOldest()
	}
	r.times.Add(x, 1)
	return false
}

// countUnwanted counts a result that is not of a live attempt. It is forged if the attempt was given to another node,
// or was never made.
func (c *coordinator) countUnwanted(from grid.NodeID, id grid.AttemptID, t *task, fx *grid.Effects) {
	if from == c.cfg.Self {
		return
	}
	j := c.job(id.Task.Job)
	forged := t != nil && j.replica.Sole() && // other owners may have made attempts that this one does not know
		(t.attempt == id.Attempt && t.worker != from || t.attempt.Less(id.Attempt) && t.backupMade.Less(id.Attempt))
	if c.repeated.count(from, id) || forged {
		fx.Offences = append(fx.Offences, from)
	}
}
