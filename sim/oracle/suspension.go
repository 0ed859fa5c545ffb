package oracle

import "skep/grid"

// Suspensions is how often attempts were suspended so far.
func (b *Books) Suspensions() int { return b.relations.suspensions }

// Suspend reports that a node suspends an attempt that it runs, or continues it.
func (b *Books) Suspend(i, task int32, a grid.Attempt, on bool) {
	for at := b.tasks[task].runs; at != 0; at = b.runs[at-1].next {
		r, m := &b.runs[at-1], &b.machines[i]
		if r.node != i || r.attempt != a {
			continue
		}
		if r.paused == on {
			b.fail(i, "suspends %s, or continues it, twice", b.taskName(task))
		}
		if r.paused = on; on {
			b.noteRests(task, a)
			m.used.CPU -= r.needs.CPU
			b.relations.suspensions++
			if r.pauses++; r.pauses > grid.MaxSuspensions {
				b.fail(i, "suspends %s for the %d. time", b.taskName(task), r.pauses)
			}
			return
		}
		b.noteRuns(task, a, false)
		if m.used.CPU += r.needs.CPU; !m.capacity.Fits(m.used) {
			b.fail(i, "continues %s and so uses %v of %v", b.taskName(task), m.used, m.capacity)
		}
		return
	}
	b.fail(i, "suspends %s, which does not run there", b.taskName(task))
}

// taken is what a run has of its node.
func (r *run) taken() grid.Resources {
	taken := r.needs
	if r.paused {
		taken.CPU = 0
	}
	return taken
}
