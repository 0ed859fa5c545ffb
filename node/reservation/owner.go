package reservation

import (
	"slices"

	"skep/grid"
)

// owner is what is remembered of a node that asked for slots.
type owner struct {
	id        grid.NodeID
	restUntil grid.Time // it gets none before, while others want some
	vain      int       // gangs in a row that took slots of younger ones and did not use them
	line      []waiting
}

// waiting is a gang that asked and has not got its slots.
type waiting struct {
	job   grid.JobID
	came  grid.Time    // as in kept
	asked grid.Time    // last
	ask   grid.Reserve // last
}

// before is as of kept.
func (w *waiting) before(x *waiting) bool { return goesFirst(w.came, &w.job, x.came, &x.job) }

// inLine returns when a gang came, by its age when it was first heard of, which may be now. Of too many gangs the one
// that has not asked for longest is forgotten.
func (o *owner) inLine(now grid.Time, q *grid.Reserve) grid.Time {
	job := q.Job
	o.line = slices.DeleteFunc(o.line, func(w waiting) bool { return now.Sub(w.asked) > longInLine })
	if at := slices.IndexFunc(o.line, func(w waiting) bool { return w.job == job }); at >= 0 {
		o.line[at].asked, o.line[at].ask = now, *q
		return o.line[at].came
	}
	if len(o.line) == maxInLine {
		oldest := 0
		for i := range o.line {
			if o.line[i].asked < o.line[oldest].asked {
				oldest = i
			}
		}
		o.line = slices.Delete(o.line, oldest, oldest+1)
	}
	came := now.Add(-min(max(q.Age, 0), maxAge))
	o.line = append(o.line, waiting{job, came, now, *q})
	return came
}

// rest begins after slots that a gang had in vain. It is as long as they were kept, but not for nothing at all. It
// doubles with each gang in a row that took slots of younger ones in vain: honest owners do so now and then, when
// refused elsewhere, and a long rest after each costs gangs of several owners half of their speed.
func (o *owner) rest(now grid.Time, k *kept) {
	least := minRest
	if k.wound {
		least = min(minRest<<o.vain, MaxTTL)
		o.vain = min(o.vain+1, maxDoubled)
	}
	o.restUntil = max(o.restUntil, now.Add(max(min(now, k.until).Sub(k.since), least)))
}

// forget takes a gang that has used its slots out of the line.
func (o *owner) forget(job grid.JobID) {
	o.vain = 0
	o.line = slices.DeleteFunc(o.line, func(w waiting) bool { return w.job == job })
}

// last is when the owner last asked for slots that it did not get.
func (o *owner) last() grid.Time {
	at := grid.Time(-1)
	for i := range o.line {
		at = max(at, o.line[i].asked)
	}
	return at
}

// owner returns what is remembered of a node. Of too many the one that has not asked for longest is forgotten.
func (t *Table) owner(id grid.NodeID) *owner {
	for _, o := range t.owners {
		if o.id == id {
			return o
		}
	}
	if len(t.owners) == maxOwners {
		oldest := 0
		for i, o := range t.owners {
			if max(o.last(), o.restUntil) < max(t.owners[oldest].last(), t.owners[oldest].restUntil) {
				oldest = i
			}
		}
		t.owners = slices.Delete(t.owners, oldest, oldest+1)
	}
	o := &owner{id: id}
	t.owners = append(t.owners, o)
	return o
}

// wantedBy reports whether a gang of another owner wants slots.
func (t *Table) wantedBy(now grid.Time, but grid.NodeID) bool {
	return slices.ContainsFunc(t.owners, func(o *owner) bool {
		return o.id != but && len(o.line) > 0 && now.Sub(o.last()) < wantsFor
	})
}

func (t *Table) find(from grid.NodeID, job grid.JobID) int {
	return slices.IndexFunc(t.kept, func(k *kept) bool { return k.owner == from && k.ask.Job == job })
}
