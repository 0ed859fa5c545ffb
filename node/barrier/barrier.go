package barrier

import (
	"slices"
	"time"

	"skep/grid"
)

// Barrier is what is outstanding of a cancel, of a job or of tasks of it.
type Barrier struct {
	until       grid.Time // no start lease is valid from then on
	askedAt     grid.Time // time of the last Ask to the workers
	outstanding []attempt // attempts at other nodes, by task, then by attempt
	unconfirmed int       // number of outstanding attempts that are not confirmed
	callers     []uint64

	of    Job // in a set
	index int // there
}

// attempt is one that was given to a worker.
type attempt struct {
	id        grid.AttemptID
	worker    grid.NodeID
	confirmed bool
}

// byTask orders attempts of a job.
func (a *attempt) byTask(id grid.AttemptID) int {
	switch {
	case a.id.Attempt == id.Attempt && a.id.Task.Index == id.Task.Index:
		return 0
	case a.id.Task.Index < id.Task.Index || a.id.Task.Index == id.Task.Index && a.id.Attempt.Less(id.Attempt):
		return -1
	}
	return 1
}

// New returns a barrier that is lowered at until, whatever the workers say.
func New(until grid.Time) *Barrier { return &Barrier{until: until} }

// Extend adds the attempts and the callers of an earlier barrier of the same job, and lasts as long as the longer one.
// An earlier cancel that is not answered is then answered with the later one.
func (b *Barrier) Extend(old *Barrier) {
	b.until, b.callers = max(b.until, old.until), append(old.callers, b.callers...)
	for _, x := range old.outstanding {
		if !x.confirmed {
			b.outstanding = append(b.outstanding, x)
		}
	}
	slices.SortFunc(b.outstanding, func(x, y attempt) int { return x.byTask(y.id) })
	b.outstanding = slices.CompactFunc(b.outstanding, func(x, y attempt) bool { return x.id == y.id })
	b.unconfirmed = 0
	for _, x := range b.outstanding {
		if !x.confirmed {
			b.unconfirmed++
		}
	}
}

// Add lists an attempt that another node may have, once.
func (b *Barrier) Add(id grid.AttemptID, worker grid.NodeID) {
	at, found := slices.BinarySearchFunc(b.outstanding, id, func(a attempt, id grid.AttemptID) int { return a.byTask(id) })
	if found {
		return
	}
	b.outstanding = slices.Insert(b.outstanding, at, attempt{id: id, worker: worker})
	b.unconfirmed++
}

// Await has a caller answered when the barrier is lowered.
func (b *Barrier) Await(caller uint64) { b.callers = append(b.callers, caller) }

// Callers lists those who wait; read only.
func (b *Barrier) Callers() []uint64 { return b.callers }

// Confirm records that a worker does not have an attempt, or that it has ended there. It reports whether that confirmed
// an outstanding attempt, and whether it was the last one.
func (b *Barrier) Confirm(from grid.NodeID, id grid.AttemptID) (confirmed, last bool) {
	at, found := slices.BinarySearchFunc(b.outstanding, id, func(a attempt, id grid.AttemptID) int { return a.byTask(id) })
	if !found || b.outstanding[at].confirmed || b.outstanding[at].worker != from {
		return false, false
	}
	b.outstanding[at].confirmed = true
	b.unconfirmed--
	return true, b.unconfirmed == 0
}

// Check reports whether nothing can start any more: the workers have confirmed all attempts and the job is quiet, as it
// is from quietAt on, or the barrier's time is over. Else it returns the time of the next check, and asks the workers
// again, at most once in a sixth of a lease.
func (b *Barrier) Check(now, quietAt grid.Time, lease time.Duration, fx *grid.Effects) (lowered bool, next grid.Time) {
	if now >= b.until || b.unconfirmed == 0 && now >= quietAt {
		return true, 0
	}
	if b.unconfirmed == 0 {
		return false, min(b.until, quietAt)
	}
	if b.askedAt == 0 || now >= b.askedAt.Add(lease/6) {
		b.askedAt = now
		b.ask(fx)
	}
	return false, min(b.until, b.askedAt.Add(lease/6))
}

// ask sends Ask for the unconfirmed attempts. A worker that answers that it has none also refuses a late offer of it.
func (b *Barrier) ask(fx *grid.Effects) {
	for k := range b.outstanding {
		if o := &b.outstanding[k]; !o.confirmed {
			m := fx.About(o.worker, grid.KindAsk)
			m.Attempts = append(m.Attempts, o.id)
		}
	}
}
