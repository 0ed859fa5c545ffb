package oracle

import "skep/grid"

// Moves of gangs to better nodes. A move is one when a record of the first rank gives its attempt up and counts one
// more. It is made only where the ranks may run again and go on from a checkpoint, at most as often as the gang's
// contract says, whoever owns it, and it costs no rank a retry.

// move is the last one of a gang.
type move struct {
	by      int32
	attempt grid.Attempt // that was given up
	made    uint32       // so far, by all owners
}

// checkMove checks a record of a rank that becomes durable, with that before it on the same disk.
func (b *Books) checkMove(i, k int32, r *grid.TaskRecord, before grid.TaskRecord) {
	j := &b.jobs[b.tasks[k].job]
	if !j.spec.IsGang() || r.State != grid.Pending || before.State != grid.Offered && before.State != grid.Placed ||
		before.ID != r.ID {
		return
	}
	m := b.relations.moves[j.first]
	if k != j.first {
		if m != nil && m.by == i && m.attempt == r.ID.Attempt && r.Lost != before.Lost {
			b.fail(i, "moves attempt %v of %s, and counts it as lost", r.ID.Attempt, b.taskName(k))
		}
		return
	}
	if r.Pulls != before.Pulls+1 {
		return
	}
	if m == nil {
		if b.relations.moves == nil {
			b.relations.moves = make(map[int32]*move)
		}
		m = new(move)
		b.relations.moves[j.first] = m
	}
	m.by, m.attempt = i, r.ID.Attempt
	m.made++
	b.relations.checkpoints.counts.Moved++
	_, ended := b.gangs.ended[b.tasks[k].job]
	switch most := j.spec.Gang.Terms().Moves; {
	case j.spec.Retries == 0:
		b.fail(i, "moves attempt %v of %s, which must run at most once", r.ID.Attempt, b.taskName(k))
	case m.made > most:
		b.fail(i, "moves attempt %v of %s: that is move %d, of at most %d", r.ID.Attempt, b.taskName(k), m.made, most)
	case r.Lost != before.Lost:
		b.fail(i, "moves attempt %v of %s, and counts it as lost", r.ID.Attempt, b.taskName(k))
	case ended:
		b.fail(i, "moves attempt %v of %s, and a rank has ended", r.ID.Attempt, b.taskName(k))
	case b.machines[i].disk.checkpoint(k).step == 0:
		b.fail(i, "moves attempt %v of %s, and its disk has no checkpoint", r.ID.Attempt, b.taskName(k))
	}
}
