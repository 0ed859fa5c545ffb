package contract

import (
	"testing"

	"skep/grid"
)

type oneEntry struct {
	entry     *grid.Entry
	committed bool
}

func (r oneEntry) Value(uint32) (*grid.Entry, bool) { return r.entry, r.committed }

// The number of moves follows from the register and the newest attempt alone: one of which the entry is has not moved
// yet, any other one, or none, is after that move.
func TestMovesAreInTheRegister(t *testing.T) {
	spec := &grid.JobSpec{Count: 2}
	spec.Gang = grid.Gang{Ranks: 2, Search: &grid.ScheduleSearch{CountsMoves: true}}
	first, second, taken := grid.Attempt{Epoch: 1, N: 1}, grid.Attempt{Epoch: 1, N: 2}, grid.Attempt{Epoch: 2, N: 1}
	var r oneEntry
	if n := Made(spec, r, first); n != 0 || EndsAsMove(spec, r, first) || IsOver(spec, r, first) {
		t.Errorf("%d moves before the first one", n)
	}
	r.entry = Entry(spec, r, first, 7)
	if r.entry.Round != 0 || !r.entry.Open() || r.entry.Index != spec.MovesEntry() || EndsAsMove(spec, r, first) {
		t.Errorf("the first move is entry %+v", r.entry)
	}
	r.committed = true
	if !EndsAsMove(spec, r, first) || EndsAsMove(spec, r, second) || EndsAsMove(spec, r, grid.Attempt{}) {
		t.Error("it is of another attempt")
	}
	if Entry(spec, r, first, 8) != nil {
		t.Error("one move is recorded twice")
	}
	for _, c := range []struct {
		newest grid.Attempt
		want   uint32
	}{{first, 0}, {second, 1}, {taken, 1}, {grid.Attempt{}, 1}} {
		if n := Made(spec, r, c.newest); n != c.want {
			t.Errorf("%d moves with attempt %v, want %d", n, c.newest, c.want)
		}
	}
	r.entry = Entry(spec, r, taken, 9)
	if n := Made(spec, r, taken); n != 1 || Made(spec, r, grid.Attempt{}) != 2 {
		t.Errorf("%d moves in the second one, want 1", n)
	}
	if !IsOver(spec, r, second) || IsOver(spec, r, taken) || IsOver(spec, r, grid.Attempt{Epoch: 2, N: 2}) {
		t.Error("an attempt before the one of the newest move is over, and no other one")
	}
	spec.Gang.Search.CountsMoves = false
	if EndsAsMove(spec, r, taken) || IsOver(spec, r, second) {
		t.Error("a register without the entry says something of moves")
	}
}
