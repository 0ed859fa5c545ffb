package oracle

import (
	"skep/grid"
)

// Audit checks the final state of a node that is up: by its own views nothing is left.
func (b *Books) Audit(i int32) {
	b.Views(i)
	waiting := 0 // tasks of jobs that cannot continue: the view must say so
	for k := range b.views {
		switch v := &b.views[k]; {
		case v.Ended == int(v.Spec.Count):
		case v.InputsAtRisk != "" && !b.jobMustEnd(i, v.ID): // its inputs are lost with an origin that never acknowledged it
			waiting += v.Pending
		case b.waitsInVain(i, v.ID):
			waiting += v.Pending
		case b.canLearn(i, b.job(i, v.ID)) || !b.awaitsMajority(i, v.ID):
			b.fail(i, "says that job %s has %d of %d tasks ended, and all have", v.ID.Short(), v.Ended, v.Spec.Count)
		default:
			waiting += v.Pending
		}
	}
	if s := b.machines[i].member.Stats(b.world.Clock(i)); s.Queued > b.orphaned(i) || s.Running > b.runsUnbound(i) ||
		s.Pending > waiting {
		b.fail(i, "says that %d attempts are queued, %d run and %d tasks are pending, and all has ended", s.Queued,
			s.Running, s.Pending)
	}
}

// runsUnbound counts what runs on a node of jobs that need not end, as those that wait for a job of which nobody can
// say how it has ended: a task of such a job that is released already may fail, and be run again later.
func (b *Books) runsUnbound(i int32) (n int) {
	for k := range b.tasks {
		if t := &b.tasks[k]; t.runs != 0 && !b.mustEnd(&b.jobs[t.job]) {
			for r := t.runs; r != 0; r = b.runs[r-1].next {
				if b.runs[r-1].node == i {
					n++
				}
			}
		}
	}
	return n
}

func (b *Books) jobMustEnd(i int32, id grid.JobID) bool {
	n := b.job(i, id)
	return n >= 0 && b.mustEnd(&b.jobs[n])
}

// awaitsMajority reports whether a client that asks node i about a job is told that it waits for a majority of its
// register. The node forwards the question to the owner that it knows, if that one is connected.
func (b *Books) awaitsMajority(i int32, id grid.JobID) bool {
	type ownerView interface {
		Authority(grid.JobID) (who grid.NodeID, since int64, known bool)
		AwaitsMajority(grid.Time, grid.JobID) bool
	}
	m, ok := b.machines[i].member.(ownerView)
	if !ok {
		return false
	}
	if who, _, known := m.Authority(id); known {
		i = b.world.Index(who)
	}
	m, ok = b.machines[i].member.(ownerView)
	return ok && b.up(i) && m.AwaitsMajority(b.world.Clock(i), id)
}

// orphaned counts the attempts that a node keeps of jobs that need not end. Of those whose only record, or the majority
// of whose register, is lost for good, queued ones are kept for a while in case it comes back. One that waits for a job
// of which nobody need say how it has ended may hear it still, and be released after all that must end has ended: its
// attempts are queued, as they run (runsUnbound) and wait for a place.
func (b *Books) orphaned(i int32) int {
	n := 0
	for at := b.machines[i].disk.workChain; at != 0; at = b.workRecords[at-1].nodeChain[1] {
		if j := &b.jobs[b.tasks[b.workRecords[at-1].task].job]; j.register == 0 && b.machines[j.origin].lost ||
			j.register != 0 && !b.majorityTakesPart(j) || !b.canBeAsked(j) {
			n++
		}
	}
	return n
}
