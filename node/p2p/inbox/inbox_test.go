package inbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"skep/grid"
)

// serve is a loop that steps nothing; it ends with the returned function.
func serve(q *Inbox, seen func(*Input)) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer q.Close()
		for {
			select {
			case <-stop:
				return
			case in := <-q.Inputs():
				if in.Read != nil {
					in.Read(1)
				}
				seen(in)
				in.Free()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

func TestReadFollowsEarlierEvents(t *testing.T) {
	q, seen := Open(), 0
	end := serve(q, func(in *Input) {
		if in.Event.Kind == grid.EvStart {
			seen++
		}
	})
	defer end()
	for range 3 {
		q.Event(func(ev *grid.Event) { ev.Kind = grid.EvStart })
	}
	var at grid.Time
	if err := q.Read(context.Background(), func(now grid.Time) { at = now }); err != nil || at != 1 || seen != 3 {
		t.Errorf("Read: %v, called at %d after %d events: want no error, at 1 after 3", err, at, seen)
	}
}

func TestNobodyWaitsForALoopThatHasEnded(t *testing.T) {
	q := Open()
	serve(q, func(*Input) {})()
	for range Size {
		q.Event(func(*grid.Event) {})
	}
	q.Wait()
	q.Wake()
	if err := q.Post(context.Background(), New()); !errors.Is(err, ErrClosed) {
		t.Errorf("Post into the full queue of a loop that has ended: %v: want %v", err, ErrClosed)
	}
	if err := q.Read(context.Background(), func(grid.Time) { t.Error("the function is called") }); !errors.Is(err,
		ErrClosed) {
		t.Errorf("Read: %v: want %v", err, ErrClosed)
	}
}

func TestPostWaitsNoLongerThanItsContext(t *testing.T) {
	q := Open() // nobody takes
	for range Size {
		q.Event(func(*grid.Event) {})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := q.Post(ctx, New()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Post into a full queue: %v: want the context's error", err)
	}
}

func TestFreedInputIsEmpty(t *testing.T) {
	freed := 0
	in := New()
	in.Event.Kind, in.Read, in.OnFree = grid.EvStart, func(grid.Time) {}, func() { freed++ }
	in.Message.Attempts = make([]grid.AttemptID, pooledAttempts+1)
	in.Free()
	if freed != 1 || in.Event.Kind != 0 || in.Read != nil || in.OnFree != nil || in.Message.Attempts != nil {
		t.Errorf("freed %d times, left %v: want once, and an empty input", freed, in)
	}
}
