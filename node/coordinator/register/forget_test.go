package register

import (
	"iter"
	"slices"
	"testing"

	"skep/grid"
)

// written is a register with these entries.
type written struct {
	View
	entries []uint32
}

func (w written) Written() iter.Seq2[uint32, *grid.Entry] {
	return func(yield func(uint32, *grid.Entry) bool) {
		for _, i := range w.entries {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// tasks are the first so many tasks of a job.
func tasks(n uint32) iter.Seq2[uint32, bool] {
	return func(yield func(uint32, bool) bool) {
		for i := range n {
			if !yield(i, true) {
				return
			}
		}
	}
}

// Each task that may have a record, the cancellation and the entries beyond it are deleted, each once, then the
// register. Of a job with many, one record deletes all.
func TestEveryRecordOfAJobIsDeleted(t *testing.T) {
	for _, c := range []struct {
		touched uint32
		each    bool // task waits for one of another job
		want    []uint32
		further uint32
	}{
		{touched: 2, want: []uint32{0, 1, 5, 7}},
		{touched: maxForgottenSingly + 1, want: []uint32{0}, further: 5},
		{touched: maxForgottenSingly/2 + 1, each: true, want: []uint32{0}, further: 11},
	} {
		s := &grid.JobSpec{Count: 5}
		if c.each {
			s.After.Jobs = []grid.Dependency{{Kind: grid.AfterEach}}
		}
		var fx grid.Effects
		Forget(grid.JobID{}, s, tasks(c.touched), written{entries: []uint32{0, 1, 7}}, &fx)
		last := len(fx.Saves) - 1
		var got []uint32
		for i := range fx.Saves[:last] {
			r := &fx.Saves[i]
			if got = append(got, r.Entry.ID.Task.Index); r.Kind != grid.RecEntry || !r.Delete {
				t.Errorf("record %d is %+v", i, r)
			}
		}
		if !slices.Equal(got, c.want) || fx.Saves[0].Entry.Further != c.further {
			t.Errorf("%d tasks: entries %v and %d further are deleted, want %v and %d", c.touched, got,
				fx.Saves[0].Entry.Further, c.want, c.further)
		}
		if r := &fx.Saves[last]; r.Kind != grid.RecRegister || !r.Delete {
			t.Errorf("the last record is %+v, want the register", r)
		}
	}
}
