package offered

import (
	"slices"

	"skep/grid"
)

const (
	// Batch is by how many tasks the set grows. Higher writes less often; lower has a takeover lose fewer tasks that
	// were not offered.
	Batch = grid.OfferedBatch

	// ahead is how many tasks before its end the set grows. Higher waits less for the write, where offers follow each
	// other fast; lower has a takeover lose fewer tasks that were not offered.
	ahead = 32

	// lastShrink is the round from which on the set only grows: a register has a bounded number of rounds, and those
	// left suffice for the batches of the longest job.
	lastShrink = grid.MaxRounds / 2
)

// Register is what the register of a job says.
type Register interface {
	Value(i uint32) (e *grid.Entry, committed bool)
}

// Book is what the owner of a job keeps beside the register. The zero value is that of a job that it begins to own.
type Book struct {
	before *grid.OfferedTasks // what a majority has accepted, while another set is being written
	quiet  uint8              // looks since a task was offered or came back
}

// tasks returns the newest set of a job's register. Nothing written is the first batch.
func tasks(s *grid.JobSpec, r Register) (newest *grid.OfferedTasks, committed bool) {
	if e, committed := r.Value(s.OfferedEntry()); e != nil {
		return e.Offered, committed
	}
	return grid.FirstOffered(s.Count), true
}

// May reports whether a task may have been offered, as far as a register says.
func May(s *grid.JobSpec, r Register, i uint32) bool {
	o, _ := tasks(s, r)
	return o.Has(i)
}

// Covers reports whether the owner may offer a task.
func (b *Book) Covers(s *grid.JobSpec, r Register, i uint32) bool {
	o, committed := tasks(s, r)
	return o.Has(i) && (committed || b.before != nil && b.before.Has(i))
}

// Grow returns the entry to write so that a task may be offered; nil = one is being written.
func (b *Book) Grow(s *grid.JobSpec, r Register, i uint32, wall int64) *grid.Entry {
	o, committed := tasks(s, r)
	if !committed {
		return nil
	}
	next := &grid.OfferedTasks{Below: o.Below}
	if i >= o.Below {
		next.Below = min(i+Batch, s.Count)
	}
	for _, f := range o.Free {
		// what is between i and the end of its batch is free no more
		before, after := grid.TaskSpan{From: f.From, To: min(f.To, i)}, grid.TaskSpan{From: max(f.From, i+Batch), To: f.To}
		for _, rest := range []grid.TaskSpan{before, after} {
			if rest.From < rest.To {
				next.Free = append(next.Free, rest)
			}
		}
	}
	if len(next.Free) > grid.MaxFree {
		next.Free = next.Free[1:]
	}
	return b.write(s, r, o, next, wall)
}

// GrowAhead returns the entry to write when a task was offered and soon further ones will be; nil = none.
func (b *Book) GrowAhead(s *grid.JobSpec, r Register, i uint32, wall int64) *grid.Entry {
	if o, committed := tasks(s, r); !committed || o.Below == s.Count || i+ahead < o.Below {
		return nil
	}
	return b.Grow(s, r, max(i+1, b.below(s, r)), wall)
}

func (b *Book) below(s *grid.JobSpec, r Register) uint32 {
	o, _ := tasks(s, r)
	return o.Below
}

// Touch notes that a task was offered, or that one waits again.
func (b *Book) Touch() { b.quiet = 0 }

// Shrink is called at each look at the job, and returns the entry to write when nothing has been offered between two
// looks; nil = none. waits reports whether no attempt of a task can start: none was made, or each came back, and
// another one may be.
func (b *Book) Shrink(s *grid.JobSpec, r Register, wall int64, waits func(i uint32) bool) *grid.Entry {
	o, committed := tasks(s, r)
	if !committed || b.quiet > 1 {
		return nil
	}
	if b.quiet++; b.quiet < 2 {
		return nil
	}
	next := &grid.OfferedTasks{Below: o.Below}
	gained := false
	for i := o.Below; i > 0; i-- { // from the end: there most were not offered
		if !waits(i - 1) {
			continue
		}
		k := len(next.Free)
		if k > 0 && next.Free[k-1].From == i {
			next.Free[k-1].From--
		} else if k == grid.MaxFree {
			break
		} else {
			next.Free = append(next.Free, grid.TaskSpan{From: i - 1, To: i})
		}
		gained = gained || o.Has(i-1)
	}
	e, _ := r.Value(s.OfferedEntry())
	if !gained || e != nil && e.Round >= lastShrink {
		return nil
	}
	slices.Reverse(next.Free)
	return b.write(s, r, o, next, wall)
}

// write returns the entry of a set that follows another one. With the last round that a register may have nothing is
// left out, and nothing is written after it.
func (b *Book) write(s *grid.JobSpec, r Register, from, to *grid.OfferedTasks, wall int64) *grid.Entry {
	// an open entry has a result
	e := &grid.Entry{Index: s.OfferedEntry(), Offered: to, Done: wall, Again: 1, Result: &grid.Result{Cause: grid.Lost}}
	if last, _ := r.Value(e.Index); last != nil {
		e.Round = last.Round + 1
	}
	if e.Round == grid.MaxRounds-1 {
		e.Offered = &grid.OfferedTasks{Below: s.Count}
	}
	b.before = from
	return e
}
