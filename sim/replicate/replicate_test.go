package replicate

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Each run is done once and has its place, however many work; progress counts those that came to their end.
func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		got, last := make([]int, 50), 0
		err := Each(context.Background(), len(got), workers, func(done, of int) {
			if last++; done != last || of != len(got) {
				t.Errorf("%d workers: %d of %d runs, want %d of %d", workers, done, of, last, len(got))
			}
		}, func(k int, _ *atomic.Bool) (bool, error) {
			got[k] += k + 1
			return k%2 == 0, nil
		})
		if err != nil || last != len(got)/2 {
			t.Errorf("%d workers: %d runs came to their end, error %v", workers, last, err)
		}
		for k, x := range got {
			if x != k+1 {
				t.Fatalf("%d workers: %v: want each run once", workers, got)
			}
		}
	}
}

// An error, or the end of the context, stops what runs and what has not begun.
func TestEachStops(t *testing.T) {
	wrong := errors.New("wrong")
	ctx, cancel := context.WithCancel(context.Background())
	var began []int
	run := func(at int, end func() error) error {
		began = nil
		return Each(ctx, 20, 1, nil, func(k int, stop *atomic.Bool) (bool, error) {
			began = append(began, k)
			if k < at {
				return true, nil
			}
			err := end()
			for err == nil && !stop.Load() { // as a long run does
			}
			return false, err
		})
	}
	if err := run(3, func() error { return wrong }); err != wrong {
		t.Errorf("error %v, want that of the run", err)
	}
	if err := run(5, func() error { cancel(); return nil }); err != nil || !slices.Equal(began, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("runs %v began, error %v: want none after the end of the context", began, err)
	}
}
