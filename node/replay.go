package node

import "skep/grid"

// replays remembers the results that came although nobody wants them. Their senders are told so each time, and
// an honest one forgets the result then: who repeats it many times over does it on purpose.
type replays struct {
	seen []replay
	next int
}

type replay struct {
	from  grid.NodeID
	id    grid.AttemptID
	times int
}

const (
	keepReplays = 256
	tooOften    = 8 // lost answers explain fewer
)

// again counts a result that nobody wants, and reports whether it has come too often.
func (r *replays) again(from grid.NodeID, id grid.AttemptID) bool {
	for i := range r.seen {
		if x := &r.seen[i]; x.id == id && x.from == from {
			x.times++
			return x.times > tooOften
		}
	}
	if len(r.seen) < keepReplays {
		r.seen = append(r.seen, replay{from, id, 1})
		return false
	}
	r.seen[r.next] = replay{from, id, 1}
	r.next = (r.next + 1) % keepReplays
	return false
}

// unwanted notes a result that is not of a live attempt. One in the name of the node that the attempt was
// really given to, or of an attempt that was never made, is forged.
func (n *Node) unwanted(from grid.NodeID, id grid.AttemptID, t *task, fx *grid.Effects) {
	if from == n.cfg.Self {
		return
	}
	j := n.job(id.Task.Job)
	forged := t != nil && j.guard == nil && // an earlier or later owner may have made attempts that this one does not know
		(t.attempt == id.Attempt && t.worker != from || t.attempt.Less(id.Attempt) && t.made.Less(id.Attempt))
	if n.replays.again(from, id) || forged {
		fx.Offences = append(fx.Offences, from)
	}
}
