package oracle

import (
	"skep/grid"
	"skep/sim/oracle/seats"
)

// checkRegister checks the record of a register: promised and accepted epochs never go back, and an epoch has one
// owner.
func (b *Books) checkRegister(i int32, r *grid.Record) {
	n := b.job(i, r.Register.ID)
	if n < 0 || r.Delete {
		return
	}
	if b.buried(i, n) {
		b.fail(i, "takes part in the register of submission %d again, which it has evicted as closed", n)
	}
	g := r.Register
	if x := b.replicaOf(i, n); x != nil && (g.Promised < x.rec.Promised || g.Epoch < x.rec.Epoch || x.rec.Done &&
		!g.Done && g.Opened <= x.rec.Opened) {
		b.fail(i, "goes back in the register of submission %d: promised %d, accepted %d, after %d and %d", n, g.Promised,
			g.Epoch, x.rec.Promised, x.rec.Epoch)
	}
	for _, id := range b.everKept(n) {
		if x := b.replicaOf(b.world.Index(id), n); x != nil && x.rec.Epoch == g.Epoch && x.rec.Owner != g.Owner &&
			g.Epoch > 0 {
			b.fail(i, "takes n%d for the owner of epoch %d of submission %d, and n%d takes n%d for it", b.world.Index(g.Owner),
				g.Epoch, n, b.world.Index(id), b.world.Index(x.rec.Owner))
		}
	}
}

// hasEnd reports, of a node, whether its disk has a task's end by that attempt. What a hostile one says of its disk
// nobody can know.
func (b *Books) hasEnd(n int32, a grid.AttemptID) func(grid.NodeID) bool {
	return func(id grid.NodeID) bool {
		x := b.replicaOf(b.world.Index(id), n)
		return b.hostile(b.world.Index(id)) || x != nil && x.entries[a.Task.Index].Epoch > 0 &&
			x.entries[a.Task.Index].ID == a
	}
}

// checkFinal checks an entry that a node calls final (committed): a majority of the members' disks have it, and no
// other value was final before.
func (b *Books) checkFinal(i, n int32, e *grid.EntryRecord) {
	j := &b.jobs[n]
	if !e.Committed || e.Open != nil || e.ID.Task.Index >= uint32(j.count) ||
		b.succeeded(j.first+int32(e.ID.Task.Index), int(e.Round)) {
		return
	}
	keep, held := b.seatsOf(i, n), b.hasEnd(n, e.ID)
	k := j.first + int32(e.ID.Task.Index)
	t := &b.tasks[k]
	switch {
	case t.State == grid.Ended && (t.Attempt != e.ID.Attempt || t.Result.Cause != e.Result.Cause ||
		t.Result.Exit != e.Result.Exit):
		b.fail(i, "records the end of %s with attempt %v (%v), and with attempt %v (%v) it was final", b.taskName(k),
			e.ID.Attempt, e.Result.Cause, t.Attempt, t.Result.Cause)
	case t.State == grid.Ended:
	case !keep.Decide(held):
		b.fail(i, "says that the end of %s is final, which %d of %d members hold", b.taskName(k),
			seats.Count(keep.Members, held), len(keep.Members))
	case e.Result.Error == "" && !b.majorityHasFiles(b.ownersSeats(i, n), e.Result.Blobs(nil)):
		b.fail(i, "says that the end of %s is final, and no majority of the members has what it left", b.taskName(k))
	default:
		t.State, t.Attempt, t.Worker, t.Result, t.Ended = grid.Ended, e.ID.Attempt, b.world.Index(e.Worker),
			e.Result.Compact(), b.world.Time()
		if b.settled && b.mustEnd(j) {
			b.tasksLeft--
		}
	}
}

// majorityHolds reports whether a majority of the members' disks have the register of a submission, as node i knows the
// members.
func (b *Books) majorityHolds(i, n int32) bool {
	return b.seatsOf(i, n).Decide(func(id grid.NodeID) bool {
		x := b.replicaOf(b.world.Index(id), n)
		return x != nil && x.rec.Epoch > 0 || b.buried(b.world.Index(id), n) || b.hostile(b.world.Index(id))
	})
}
