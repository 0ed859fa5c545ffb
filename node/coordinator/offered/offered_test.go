package offered

import (
	"math/rand/v2"
	"slices"
	"testing"

	"skep/grid"
	"skep/node/failures"
)

// register is the entry of which tasks may have been offered, as its owner has it.
type register struct {
	newest    *grid.Entry
	committed bool
}

func (r *register) Value(uint32) (*grid.Entry, bool) { return r.newest, r.committed }

func (r *register) write(t *testing.T, s *grid.JobSpec, e *grid.Entry) {
	t.Helper()
	if !failures.Possible(s, e, 1) {
		t.Fatalf("members refuse the entry %+v, %+v", e, e.Offered)
	}
	if r.newest != nil && e.Round != r.newest.Round+1 {
		t.Fatalf("round %d follows %d", e.Round, r.newest.Round)
	}
	r.newest, r.committed = e, false
}

func job(count uint32) *grid.JobSpec {
	s := &grid.JobSpec{Count: count}
	s.RecordsOffers = true
	return s
}

// Of a job of up to 64 tasks that are offered one after the other nothing is written.
func TestAShortJobWritesNothing(t *testing.T) {
	for _, count := range []uint32{1, 2, 64} {
		s, r, b := job(count), &register{}, Book{}
		for i := range count {
			if !b.Covers(s, r, i) || b.GrowAhead(s, r, i, 1) != nil {
				t.Errorf("%d tasks: that task %d may be offered is to be written", count, i)
			}
		}
	}
}

// A long job writes once for 64 tasks, ahead of need.
func TestALongJobWritesInBatches(t *testing.T) {
	s, r, b, written := job(2000), &register{}, Book{}, 0
	for i := range s.Count {
		if !b.Covers(s, r, i) {
			t.Fatalf("task %d waits", i)
		}
		if e := b.GrowAhead(s, r, i, 1); e != nil {
			r.write(t, s, e)
			r.committed = true
			written++
		}
	}
	if want := (2000 - 1) / Batch; written != want {
		t.Errorf("written %d times, want %d", written, want)
	}
}

// What is being written counts when a majority has it, and what was released not any more at once.
func TestOnlyWhatIsInBothSetsIsOffered(t *testing.T) {
	s, r, b := job(200), &register{}, Book{}
	r.write(t, s, b.Grow(s, r, 100, 1))
	if b.Covers(s, r, 100) || !b.Covers(s, r, 63) || b.Grow(s, r, 199, 1) != nil {
		t.Error("a set counts that no majority has, or two are written at a time")
	}
	r.committed = true
	if !b.Covers(s, r, 100) || !b.Covers(s, r, 163) || b.Covers(s, r, 164) {
		t.Errorf("offered are %+v", r.newest.Offered)
	}
	waits := func(i uint32) bool { return i < 10 || i >= 50 }
	if b.Shrink(s, r, 1, waits) != nil {
		t.Error("released at the first look")
	}
	r.write(t, s, b.Shrink(s, r, 1, waits))
	want := []grid.TaskSpan{{From: 0, To: 10}, {From: 50, To: 164}}
	if !slices.Equal(r.newest.Offered.Free, want) || r.newest.Offered.Below != 164 {
		t.Fatalf("offered are %+v, want all below 164 but %v", r.newest.Offered, want)
	}
	if b.Covers(s, r, 5) || b.Covers(s, r, 60) || !b.Covers(s, r, 10) {
		t.Error("a task may be offered that was released, or one may not that was not")
	}
	if r.committed = true; b.Shrink(s, r, 1, waits) != nil {
		t.Error("the same is released twice")
	}
	// a restarted owner does not know what a majority had before
	if r.committed, b = false, (Book{}); b.Covers(s, r, 10) {
		t.Error("a task may be offered before a majority is known to have the set")
	}
}

// Nothing is released of a job that goes on.
func TestNothingIsReleasedWhileTasksAreOffered(t *testing.T) {
	s, r, b := job(10), &register{}, Book{}
	for range 10 {
		if b.Touch(); b.Shrink(s, r, 1, func(i uint32) bool { return i > 0 }) != nil {
			t.Error("released while tasks are offered")
		}
	}
}

// The last round that a register may have says that all tasks may have been offered.
func TestTheLastRoundLeavesNothingOut(t *testing.T) {
	s, r, b := job(grid.MaxCount), &register{}, Book{}
	for rounds := 0; ; rounds++ {
		i := uint32(0)
		for i < s.Count && b.Covers(s, r, i) {
			i++
		}
		if i == s.Count {
			break
		}
		if rounds > 3 {
			t.Fatal("it does not end")
		}
		e := b.Grow(s, r, i, 1)
		if rounds == 0 {
			e.Round, r.newest = grid.MaxRounds-3, nil
			r.newest, r.committed = e, true
			if b.quiet = 1; b.Shrink(s, r, 1, func(uint32) bool { return true }) != nil {
				t.Error("a set shrinks though few rounds are left")
			}
			continue
		}
		r.write(t, s, e)
		r.committed = true
	}
}

// Whatever an owner does and whenever it dies: what has been offered may have been offered, says what its successor
// finds, which is what a majority has or what was being written.
func TestNothingThatWasOfferedIsLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s, r, b := job(1+rng.Uint32N(300)), &register{}, Book{}
		out := make([]bool, s.Count) // an attempt may start
		var before *grid.Entry       // what a majority has while another one is written
		write := func(e *grid.Entry) {
			if e != nil {
				before = r.newest
				r.write(t, s, e)
			}
		}
		for range 500 {
			i := rng.Uint32N(s.Count)
			switch rng.IntN(8) {
			case 0, 1, 2:
				if b.Covers(s, r, i) {
					out[i] = true
					b.Touch()
					write(b.GrowAhead(s, r, i, 1))
				} else {
					write(b.Grow(s, r, i, 1))
				}
			case 3:
				out[i] = false // it comes back
			case 4, 5:
				if r.newest != nil {
					r.committed, before = true, r.newest
				}
			case 6:
				if rng.IntN(10) == 0 {
					b = Book{} // the owner is restarted
				}
			default:
				write(b.Shrink(s, r, 1, func(i uint32) bool { return !out[i] }))
			}
			for i, out := range out {
				if found := (&register{before, true}); out && (!May(s, r, uint32(i)) || !May(s, found, uint32(i))) {
					t.Fatalf("task %d was offered, and its job's members may hold that it was not: %+v", i, r.newest.Offered)
				}
			}
		}
	}
}
