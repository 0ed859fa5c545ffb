package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// promises makes a peer answer every poll with an expected completion, and accept every offer.
func (r *rig) promises(id grid.NodeID, ect time.Duration) (offers []grid.AttemptID) {
	r.t.Helper()
	for sends := slices.Clone(r.fx.Sends); len(sends) > 0; sends = sends[1:] {
		if sends[0].To != id {
			continue
		}
		switch m := &sends[0].Msg; m.Kind {
		case grid.KindPoll:
			poll := m.Poll.ID
			r.fx = grid.Effects{}
			r.deliver(id, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: poll, ECT: ect, Speed: 1, Cores: grid.CPU, Mine: 1}
			})
			sends = append(sends, r.fx.Sends...)
		case grid.KindOffer:
			offers = append(offers, m.Offer.ID)
			r.fx = grid.Effects{}
			r.deliverFor(id, grid.KindAccept, m.Offer.ID, nil)
		}
	}
	return offers
}

// withMeasuredClass is a rig whose node has run the class: it takes a second.
func withMeasuredClass(t *testing.T) *rig {
	r := newRig(t, nil)
	r.submit(jobID(99), spec(nil))
	r.now = r.now.Add(time.Second)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: grid.AttemptID{Task: grid.TaskID{Job: jobID(99)},
		Attempt: grid.Attempt{Epoch: 1, N: 1}},
		Result: &grid.Result{Cause: grid.Exited, Wall: time.Second}})
	r.submit(jobID(98), spec(nil)) // it is busy with another one
	r.join(fastID, 1e6, "linux")
	return r
}

// A node that promises to be done at once gets nothing more while its attempt is late; the actual time then replaces
// its promises.
func TestOverpromisingNodeWaitsUntilItDelivers(t *testing.T) {
	r := withMeasuredClass(t)
	r.submit(jobID(1), spec(nil))
	got := r.promises(fastID, 0)
	if len(got) != 1 {
		t.Fatalf("%d offers to who claims to be the fastest, want 1", len(got))
	}
	r.now = r.now.Add(10 * time.Second)
	for i := range 5 {
		r.submit(jobID(byte(2+i)), spec(nil))
		if more := r.promises(fastID, 0); len(more) != 0 {
			t.Fatalf("it got another task while the first, promised at once, is 10 s late")
		}
	}
	r.deliverFor(fastID, grid.KindResult, got[0], exitZero)
	st := r.n.peers.Record(fastID)
	if x := st.CompletionTime(r.now, 0, 1, 0); x < 4 || x > 6 {
		t.Errorf("it is believed to end a task in %g s, want half of the 10 s that it took", x)
	}
	if mu := st.ExecutionRate(r.now, grid.MaxRate, 1, 1); mu > 0.3 {
		t.Errorf("its rate is believed to be %g a second: want about that of its result, 0.1", mu)
	}
	if x := st.CompletionTime(r.now.Add(time.Hour), 0, 1, 0); x > 0.5 {
		t.Errorf("an hour later it is still believed to need %g s", x)
	}
}

// A node that keeps its promises may have many tasks, and a late one among them changes nothing.
func TestReliableNodeMayHaveManyTasks(t *testing.T) {
	r := withMeasuredClass(t)
	for i := range 8 {
		r.submit(jobID(byte(1+i)), spec(nil))
		for _, id := range r.promises(fastID, 10*time.Millisecond) {
			r.now = r.now.Add(20 * time.Millisecond)
			r.deliverFor(fastID, grid.KindResult, id, exitZero)
		}
	}
	s := r.n.peers.Record(fastID)
	if !s.Proven() || s.CompletionTime(r.now, 1, 1, 0) != 1 {
		t.Fatalf("track record %+v", s)
	}
	r.submit(jobID(50), spec(nil))
	r.promises(fastID, 10*time.Millisecond)
	r.now = r.now.Add(time.Minute)
	if s.OnProbation(r.now, grid.CPU) {
		t.Error("one late task of a reliable node counts against it")
	}
}

// A few nodes with impossible rates do not change the typical rate of a class.
func TestTypicalRateIsTheMedian(t *testing.T) {
	r := newRig(t, nil)
	for i, mu := range []float64{2, 3, grid.MaxRate, 2.5, grid.MaxRate} {
		id := grid.NodeID{byte(10 + i)}
		r.join(id, 1, "linux")
		r.deliver(id, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "x", Needs: oneCore, Speed: 1, Cores: grid.CPU, Mine: 1,
				Rates: []grid.Rate{{Class: "x", Mu: mu}}}
		})
	}
	if got, _ := r.n.peers.RunTime("x"); got != 1.0/3 {
		t.Errorf("a task of the class is taken to need %g s, want 1/3", got)
	}
}
