package oracle

import (
	"skep/grid"
	"skep/node"
	"skep/sim/oracle/seats"
)

// These are added to a caller's number when it cancels a job, cancels a task of it, or has one run again; the task's
// index is then added TaskShift bits higher than the caller's number. The client of submission n is caller n + 1.
const (
	CancelCaller     = 1 << 40
	CancelTaskCaller = 1 << 41
	RetryCaller      = 1 << 42
	TaskShift        = 24
)

// Answer reports a node's answer to a client. It returns the submission that is answered; −1 if a cancellation is, or
// nothing was asked.
func (b *Books) Answer(i int32, r *grid.Reply) (submission int32) {
	if r.Caller > CancelTaskCaller {
		b.answerTask(r)
		return -1
	}
	cancels := r.Caller > CancelCaller
	n := int32(r.Caller&(CancelCaller-1)) - 1
	if n < 0 || int(n) >= len(b.jobs) || b.jobs[n].origin != i && !cancels {
		b.fail(i, "answers caller %d, who asked nothing here", r.Caller)
		return -1
	}
	j, ok := &b.jobs[n], r.Err == ""
	switch {
	case cancels:
		j.cancelAnswered = j.cancelAnswered || b.answered(r.Caller, j.retries) && ok
		return -1
	case ok && j.register != 0 && !b.majorityHolds(i, n):
		b.fail(i, "says that it has taken submission %d, which no majority of its members holds", n)
	case ok && j.register == 0 && !j.saved:
		b.fail(i, "says that it has taken submission %d, of which nothing is on its disk", n)
	case !ok && !j.confirmed && !j.rejected && j.register == 0: // a job with members may still run, and must end
		if b.settled && b.mustEnd(j) {
			b.tasksLeft -= b.unended(j)
		}
		j.rejected = true
	}
	j.confirmed = j.confirmed || ok
	return n
}

// ask is a caller's request that is not answered.
type ask struct {
	node    int32 // that was asked
	job     int32
	retries int32 // of the job, or of the task, when it was asked: see retried
}

// Asked reports that a client is about to ask a node to cancel something, or to have a task run again.
func (b *Books) Asked(i int32, caller uint64) {
	if _, open := b.asks[caller]; open { // which of the two is answered first cannot be told
		return
	}
	if b.asks == nil {
		b.asks = make(map[uint64]ask)
	}
	x := ask{node: i, job: int32(caller&(1<<TaskShift-1)) - 1}
	if x.retries = b.jobs[x.job].retries; caller > CancelTaskCaller {
		x.retries = b.retriesOf(b.jobs[x.job].first + taskIndex(caller))
	}
	b.asks[caller] = x
}

// answered closes a caller's request and reports whether no retry was decided or became durable since it was made: what
// was cancelled just before one goes on all the same.
func (b *Books) answered(caller uint64, retries int32) bool {
	x, open := b.asks[caller]
	delete(b.asks, caller)
	return open && x.retries == retries
}

// awaitsAnswer reports whether a client waits for the answer to a retry that must come.
func (b *Books) awaitsAnswer() bool {
	for caller, x := range b.asks {
		if j := &b.jobs[x.job]; caller > RetryCaller && b.mustEnd(j) && b.canReopen(x.job) {
			return true
		}
	}
	return false
}

// forgetAsks forgets what a node was asked that is down now.
func (b *Books) forgetAsks(i int32) {
	for caller, x := range b.asks {
		if x.node == i {
			delete(b.asks, caller)
		}
	}
}

func taskIndex(caller uint64) int32 { return int32(caller>>TaskShift) & (1<<(40-TaskShift) - 1) }

// answerTask takes a node's answer to a client that cancelled a task, or had it run again.
func (b *Books) answerTask(r *grid.Reply) {
	n := int32(r.Caller&(1<<TaskShift-1)) - 1
	k := b.jobs[n].first + taskIndex(r.Caller)
	if unchanged := b.answered(r.Caller, b.retriesOf(k)); unchanged && r.Caller < RetryCaller && r.Err == "" {
		b.tasks[k].cancelAnswered = true
	}
}

// majorityHasFiles reports whether each file is on a majority of the members.
func (b *Books) majorityHasFiles(keep seats.Seats, files []grid.File) bool {
	for k := range files {
		has := func(id grid.NodeID) bool { return b.world.HasBlob(b.world.Index(id), files[k].Blob) }
		if seats.Count(keep.Members, has) <= len(keep.Members)/2 {
			return false
		}
	}
	return true
}

// checkConfirmations checks confirmations of submissions when they are made: a majority of the members has the inputs,
// or the node's view states that they are at risk. Once a slow disk releases the answer, its node may not own the job
// any more.
func (b *Books) checkConfirmations(i int32, fx *grid.Effects) {
	if len(fx.Replies) == 0 {
		return
	}
	m, ok := b.machines[i].member.(interface {
		Job(grid.JobID) (node.JobView, bool)
	})
	for k := range fx.Replies {
		r := &fx.Replies[k]
		n := int(r.Caller) - 1
		if !ok || r.Err != "" || n < 0 || n >= len(b.jobs) || b.jobs[n].register == 0 ||
			b.majorityHasFiles(b.seatsOf(i, int32(n)), b.jobs[n].spec.Inputs) {
			continue
		}
		if v, known := m.Job(b.world.JobID(int32(n))); known && v.InputsAtRisk == "" && v.Owner == b.world.ID(i) &&
			v.Ended < int(b.jobs[n].count) {
			b.fail(i, "says that it has taken submission %d, whose inputs no majority of its members has", n)
		}
	}
}
