package joblist

import (
	"context"
	"errors"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/listing"
)

// nodeWith returns a node to which jobs were submitted, a second apart, and its reader, which counts.
func nodeWith(t *testing.T, jobs int) (read Reader, reads *int) {
	t.Helper()
	c := node.Defaults()
	c.Self, c.Boot, c.Seed, c.Members = grid.NodeID{1}, 1, 7, 1
	c.Capacity = grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
	n, err := node.New(c, grid.Wall{Zero: time.Unix(1_700_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var fx grid.Effects
	now := grid.Time(1e9)
	n.Step(now, &grid.Event{Kind: grid.EvStart}, &fx)
	for i := range jobs {
		now += 1e9
		id := grid.JobID{Origin: c.Self, Nonce: [10]byte{byte(i >> 8), byte(i)}}
		n.Step(now, &grid.Event{Kind: grid.EvSubmit, Caller: 1, Job: id, Spec: &grid.JobSpec{Name: "job",
			Engine: grid.EngineProcess, Command: []string{"true"}, Count: 1, Needs: grid.Needs{
				Resources: grid.Resources{CPU: grid.CPU}}}}, &fx)
	}
	reads = new(int)
	return func(_ context.Context, f func(*node.Node, grid.Time)) error { *reads++; f(n, now); return nil }, reads
}

func TestNewestJobsAreKept(t *testing.T) {
	read, _ := nodeWith(t, 25)
	rows, more, err := readRows(t.Context(), read, 5) // so few that the older half is dropped twice
	if err != nil || len(rows) != 5 || !more {
		t.Fatalf("%d rows, more %v, %v: want 5 and that there are more", len(rows), more, err)
	}
	for i, r := range rows {
		if r.ID.Nonce[1] != byte(24-i) {
			t.Errorf("row %d is job %d: want %d", i, r.ID.Nonce[1], 24-i)
		}
		if !r.Leads || r.Check() != nil {
			t.Errorf("row %+v: want one that the node decides about", r)
		}
	}
	some, left := selected(rows, true, &listing.Query{Limit: 3})
	if len(some) != 3 || !left {
		t.Errorf("%d rows, more %v: want 3 and that there are more", len(some), left)
	}
	if _, left := selected(rows, true, &listing.Query{Limit: 9, Since: rows[4].Submitted + 1}); left {
		t.Error("more jobs than are kept, where all older ones are too old")
	}
	if _, left := selected(rows, true, &listing.Query{Limit: 9, Since: rows[4].Submitted}); !left {
		t.Error("no more jobs, where the older ones are not kept")
	}
}

// However many nodes ask, the registers are read for at most a fiftieth of the time, and at least once a second.
func TestRegistersAreReadSeldom(t *testing.T) {
	read, reads := nodeWith(t, 3)
	now, cost := time.Unix(0, 0), time.Millisecond
	s := snapshot{wall: func() time.Time { return now }}
	s.read = func(ctx context.Context, f func(*node.Node, grid.Time)) error {
		now = now.Add(cost)
		return read(ctx, f)
	}
	get := func() {
		if rows, _, err := s.get(t.Context()); err != nil || len(rows) != 3 {
			t.Fatalf("%d rows, %v: want 3", len(rows), err)
		}
	}
	for _, tc := range []struct {
		cost, every time.Duration
	}{{time.Millisecond, 51 * time.Millisecond}, {time.Second / 10, time.Second + time.Second/10}} {
		cost = tc.cost
		now = now.Add(time.Hour)
		get()
		*reads = 0
		for range 1000 {
			now = now.Add(tc.every / 100)
			get()
		}
		if *reads < 9 || *reads > 10 {
			t.Errorf("read %d times in a thousand hundredths of %v: want 10", *reads, tc.every)
		}
	}
	now = now.Add(time.Hour)
	s.read = func(context.Context, func(*node.Node, grid.Time)) error { return errors.New("closed") }
	if _, _, err := s.get(t.Context()); err == nil {
		t.Error("no error of a node that cannot be read")
	}
}
