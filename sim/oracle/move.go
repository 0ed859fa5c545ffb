package oracle

import (
	"skep/grid"
	"skep/sim/oracle/seats"
)

// Moves to better nodes, of single tasks (checkTaskMove) and of gangs. One of a gang is made when a record of the first
// rank gives its attempt up and counts one more. It is made only where the ranks may run again and go on from a
// checkpoint, at most as often as the gang's contract says, whoever owns it, and it costs no rank a retry. Where the
// job's register counts moves a majority has written of it before.

// move is the last one of a gang.
type move struct {
	by      int32
	attempt grid.Attempt // that was given up
	made    uint32       // so far, by all owners
}

// checkMove checks a record of a rank that becomes durable, with that before it on the same disk.
func (b *Books) checkMove(i, k int32, r *grid.TaskRecord, before grid.TaskRecord) {
	j := &b.jobs[b.tasks[k].job]
	if !j.spec.IsGang() {
		b.checkTaskMove(i, k, r, before)
		return
	}
	if r.State != grid.Pending || before.State != grid.Offered && before.State != grid.Placed ||
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
	counted := j.spec.CountsMoves()
	if r.Pulls != before.Pulls+1 && !(counted && r.Pulls > before.Pulls) {
		return
	}
	if m == nil {
		if b.relations.moves == nil {
			b.relations.moves = make(map[int32]*move)
		}
		m = new(move)
		b.relations.moves[j.first] = m
	}
	m.by = i
	if !counted || m.attempt != r.ID.Attempt { // else a later owner finishes it
		m.made++
		b.relations.checkpoints.counts.Moved++
	}
	m.attempt = r.ID.Attempt
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
	case counted:
		b.checkCounted(i, k, r, m)
	case b.machines[i].disk.checkpoint(k).step == 0:
		b.fail(i, "moves attempt %v of %s, and its disk has no checkpoint", r.ID.Attempt, b.taskName(k))
	}
}

// checkCounted checks a move of a gang whose register counts these: a majority of the members has written that the
// attempt is given up for it, no move is forgotten, and there is a checkpoint; who finishes a move of an earlier owner
// may have to fetch it.
func (b *Books) checkCounted(i, k int32, r *grid.TaskRecord, m *move) {
	n := b.tasks[k].job
	spec := b.jobs[n].spec
	keep := b.seatsOf(i, n)
	has := func(id grid.NodeID) bool {
		x := b.replicaOf(b.world.Index(id), n)
		return x != nil && gaveUp(&x.entries[spec.MovesEntry()], r.ID.Attempt)
	}
	known := keep.Members != nil && keep.Decide(has)
	if e := b.ordering.kept[grid.TaskID{Job: r.ID.Task.Job, Index: spec.MovesEntry()}]; keep.Members == nil {
		known = gaveUp(&e, r.ID.Attempt) // its owner alone keeps the job
	}
	kept := false
	for at := range b.machines {
		kept = kept || b.machines[at].disk.checkpoint(k).step > 0
	}
	switch {
	case !known:
		b.fail(i, "moves attempt %v of %s, as %d of %d members know", r.ID.Attempt, b.taskName(k),
			seats.Count(keep.Members, has), len(keep.Members))
	case uint32(r.Pulls) < m.made:
		b.fail(i, "moves attempt %v of %s for the %d. time, and counts %d", r.ID.Attempt, b.taskName(k), m.made, r.Pulls)
	case !kept:
		b.fail(i, "moves attempt %v of %s, and no disk has a checkpoint", r.ID.Attempt, b.taskName(k))
	}
}

// gaveUp reports whether a register's entry is that an attempt, or a later one, is given up for a move.
func gaveUp(e *grid.EntryRecord, a grid.Attempt) bool {
	return e.Open != nil && !e.Open.Attempt.Less(a)
}

// checkTaskMove checks a record by which a task that is no rank moves: its worker has written that it gave the attempt
// up, nothing of it runs there any more, it may run again and go on from a checkpoint, and moves so often at most.
func (b *Books) checkTaskMove(i, k int32, r *grid.TaskRecord, before grid.TaskRecord) {
	if r.Moves == before.Moves || before.ID != r.ID || r.State != grid.Pending || before.State != grid.Offered &&
		before.State != grid.Placed {
		return
	}
	b.relations.checkpoints.counts.Migrated++
	by := b.world.Index(r.Worker)
	switch {
	case b.jobs[b.tasks[k].job].spec.Retries == 0:
		b.fail(i, "moves attempt %v of %s, which must run at most once", r.ID.Attempt, b.taskName(k))
	case r.Moves != before.Moves+1 || r.Moves > grid.MaxTaskMoves:
		b.fail(i, "moves %s for the %d. time, after %d, of at most %d", b.taskName(k), r.Moves, before.Moves,
			grid.MaxTaskMoves)
	case r.Lost != before.Lost:
		b.fail(i, "moves attempt %v of %s, and counts it as lost", r.ID.Attempt, b.taskName(k))
	case !b.hasVacated(by, k, r.ID.Attempt):
		b.fail(i, "moves attempt %v of %s, which n%d has not given up on its disk", r.ID.Attempt, b.taskName(k), by)
	case b.runsAt(by, k, r.ID.Attempt):
		b.fail(i, "moves attempt %v of %s, which still runs on n%d", r.ID.Attempt, b.taskName(k), by)
	}
}

// runsAt reports whether an attempt runs on a node.
func (b *Books) runsAt(i, k int32, a grid.Attempt) bool {
	for r := b.tasks[k].runs; r != 0; r = b.runs[r-1].next {
		if x := &b.runs[r-1]; x.node == i && x.attempt == a {
			return true
		}
	}
	return false
}
