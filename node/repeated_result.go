package node

import "skep/grid"

// repeatedResults remembers the unwanted results that came. The sender of each is told so, and an honest one then
// forgets the result: a sender that repeats it many times does so on purpose.
type repeatedResults struct {
	seen []repeatedResult
	next int
}

type repeatedResult struct {
	from  grid.NodeID
	id    grid.AttemptID
	times int
}

const (
	maxRepeated = 256
	maxRepeats  = 8 // repeats that lost answers can explain
)

// count counts an unwanted result, and reports whether it has come too often.
func (r *repeatedResults) count(from grid.NodeID, id grid.AttemptID) bool {
	for i := range r.seen {
		if x := &r.seen[i]; x.id == id && x.from == from {
			x.times++
			return x.times > maxRepeats
		}
	}
	if len(r.seen) < maxRepeated {
		r.seen = append(r.seen, repeatedResult{from, id, 1})
		return false
	}
	r.seen[r.next] = repeatedResult{from, id, 1}
	r.next = (r.next + 1) % maxRepeated
	return false
}

// countUnwanted counts a result that is not of a live attempt. It is forged if the attempt was given to another node,
// or was never made.
func (n *Node) countUnwanted(from grid.NodeID, id grid.AttemptID, t *task, fx *grid.Effects) {
	if from == n.cfg.Self {
		return
	}
	j := n.job(id.Task.Job)
	forged := t != nil && j.replica == nil && // other owners may have made attempts that this one does not know
		(t.attempt == id.Attempt && t.worker != from || t.attempt.Less(id.Attempt) && t.backupMade.Less(id.Attempt))
	if n.repeated.count(from, id) || forged {
		fx.Offences = append(fx.Offences, from)
	}
}
