package oracle

import (
	"skep/grid"
	"skep/node"
)

// CancelCaller is added to a caller's number when it cancels. The client of submission n is caller n + 1.
const CancelCaller = 1 << 40

// Answer reports a node's answer to a client. It returns the submission that is answered; −1 if a cancellation is, or
// nothing was asked.
func (b *Books) Answer(i int32, r *grid.Reply) (submission int32) {
	cancels := r.Caller > CancelCaller
	n := int32(r.Caller&(CancelCaller-1)) - 1
	if n < 0 || int(n) >= len(b.jobs) || b.jobs[n].origin != i && !cancels {
		b.fail(i, "answers caller %d, who asked nothing here", r.Caller)
		return -1
	}
	j, ok := &b.jobs[n], r.Err == ""
	switch {
	case cancels:
		j.cancelAnswered = j.cancelAnswered || ok
		return -1
	case ok && j.register != 0 && !b.majorityHolds(n):
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

// majorityHasFiles reports whether each file is on a majority of the nodes.
func (b *Books) majorityHasFiles(nodes []grid.NodeID, files []grid.File) bool {
	for k := range files {
		have := 0
		for _, id := range nodes {
			if b.world.HasBlob(b.world.Index(id), files[k].Blob) {
				have++
			}
		}
		if have <= len(nodes)/2 {
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
			b.majorityHasFiles(b.members(&b.jobs[n]), b.jobs[n].spec.Inputs) {
			continue
		}
		if v, known := m.Job(b.world.JobID(int32(n))); known && v.InputsAtRisk == "" && v.Owner == b.world.ID(i) &&
			v.Ended < int(b.jobs[n].count) {
			b.fail(i, "says that it has taken submission %d, whose inputs no majority of its members has", n)
		}
	}
}
