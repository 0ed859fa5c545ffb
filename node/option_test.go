package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// ways gives a job options; the label lets no node of this rig run it that does not know options.
func ways(options ...grid.Option) func(*grid.JobSpec) {
	return func(s *grid.JobSpec) { s.Needs.SetOptions(options) }
}

func way(cores, speedup, value float64) grid.Option {
	need := grid.Resources{CPU: grid.MilliCPU(cores * float64(grid.CPU))}
	return grid.Option{Resources: need, Speedup: speedup, Value: value}
}

// joinWide connects a peer of a version that knows options, with cores of which some are free.
func joinWide(r *rig, id grid.NodeID, cores, free float64) {
	r.t.Helper()
	r.join(id, 1, "plan9")
	of := func(n float64) grid.Resources { return grid.Resources{CPU: grid.MilliCPU(n * float64(grid.CPU))} }
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 9}, Speed: 1, Availability: 1, Capacity: of(cores), Free: of(free),
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: "plan9"},
			{Key: grid.OptionLabel, Value: grid.FeatureValue}}}
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
}

// wide makes a node one of eight cores and of this version.
func wide(c *Config) {
	c.Capacity = grid.Resources{CPU: 8 * grid.CPU}
	c.Labels = append(c.Labels, grid.FeatureLabels()...)
}

// elsewhere keeps a job from this node.
func elsewhere(s *grid.JobSpec) {
	s.Needs.Labels = append(s.Needs.Labels, grid.LabelNeed{Key: "os", Values: []string{"plan9"}})
}

// A poll asks about each option, and of what the nodes answer the task gets the node and the option with the earliest
// completion time for its value.
func TestTasksRunAsTheOptionThatEndsFirstForItsValue(t *testing.T) {
	s := func(sec float64) time.Duration { return time.Duration(sec * float64(time.Second)) }
	for _, c := range []struct {
		name       string
		value      float64 // of the second option
		fast, slow []grid.OptionState
		node       grid.NodeID
		option     uint8
	}{
		{"earliest", 1, []grid.OptionState{{ECT: s(9)}, {ECT: s(4)}},
			[]grid.OptionState{{ECT: s(3)}, {ECT: s(5)}}, slowID, 1},
		{"value", 3, []grid.OptionState{{ECT: s(9)}, {ECT: s(7)}},
			[]grid.OptionState{{ECT: s(3)}, {ECT: s(10)}}, fastID, 2},
		{"refused", 1, []grid.OptionState{{ECT: s(1), Why: grid.WhyCPU}, {ECT: s(4)}},
			[]grid.OptionState{{ECT: s(5)}, {ECT: s(6)}}, fastID, 2},
		{"too big", 1, []grid.OptionState{{ECT: s(3)}, {ECT: s(4)}}, []grid.OptionState{{ECT: s(2), Why: grid.WhyCPU},
			{ECT: s(2), Why: grid.WhyCPU}}, fastID, 1},
	} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		joinWide(r, slowID, 8, 8)
		r.submit(jobID(1), spec(func(x *grid.JobSpec) { elsewhere(x); ways(way(8, 4, 1), way(2, 1, c.value))(x) }))
		polls := slices.Clone(r.sent(grid.KindPoll))
		if len(polls) != 2 {
			t.Fatalf("%s: %d polls, want both nodes asked", c.name, len(polls))
		}
		for _, p := range polls {
			want := []grid.PollOption{{Needs: way(8, 4, 1).Resources, Speedup: 4}, {Needs: way(2, 1, 1).Resources, Speedup: 1}}
			if !slices.Equal(p.Msg.Poll.Options, want) || p.Msg.Poll.Needs.CPU != 2*grid.CPU {
				t.Errorf("%s: the poll asks about %v for %v", c.name, p.Msg.Poll.Options, p.Msg.Poll.Needs)
			}
			a := grid.State{ID: p.Msg.Poll.ID, ECT: s(1), Speed: 1, Cores: 8 * grid.CPU, Mine: 1, Options: c.fast}
			if p.To == slowID {
				a.Options = c.slow
			}
			if !slices.ContainsFunc(a.Options, func(o grid.OptionState) bool { return o.Why == grid.WhyNone }) {
				a.Why = grid.WhyCPU
			}
			r.deliver(p.To, grid.KindState, func(m *grid.Message) { m.State = a })
		}
		if o := r.one(grid.KindOffer); o.To != c.node || o.Msg.Offer.Option != c.option {
			t.Errorf("%s: offered to %v as option %d, want %v, %d", c.name, o.To.Short(), o.Msg.Offer.Option, c.node.Short(),
				c.option)
		}
	}
}

// A worker reserves what the option of an offer needs and no more, tells its task which it is, and its result tells the
// owner.
func TestWorkerReservesTheOptionOfTheOffer(t *testing.T) {
	r := newRig(t, wide)
	r.join(fastID, 1, "plan9")
	s, accepted := spec(ways(way(8, 4, 1), way(3, 1, 1))), false
	offer := func(n uint32, option uint8) grid.AttemptID {
		r.t.Helper()
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{1}}, Index: 0},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
		id.Task.Job.Nonce[1] = byte(n)
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: s, Class: grid.ClassOf(s), Lease: time.Minute, Option: option}
		})
		accepted = len(r.sent(grid.KindAccept)) == 1
		for _, x := range slices.Clone(r.sent(grid.KindStartLease)) {
			r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
				m.Attempts, m.Register.Seq = append(m.Attempts, id), x.Msg.Register.Seq
			})
		}
		return id
	}
	offer(1, 2)
	if free := r.n.worker.Exec().Free().CPU; len(r.fx.Starts) != 1 || r.fx.Starts[0].Spec.Needs.Chosen != 2 ||
		r.fx.Starts[0].Spec.Needs.CPU != 3*grid.CPU || free != 5*grid.CPU {
		t.Fatalf("%d starts, %d free: want one of three cores, as option 2", len(r.fx.Starts), free)
	}
	if offer(2, 0); accepted {
		t.Error("an offer that names no option of a job with options is accepted")
	}
	if offer(3, 3); accepted {
		t.Error("an offer that names an option which the job does not have is accepted")
	}
	id := offer(4, 2)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: time.Second}})
	if m := r.one(grid.KindResult); m.Msg.Result.Option != 2 {
		t.Errorf("the result says option %d, want 2", m.Msg.Result.Option)
	}
	rec := r.disk["work "+id.String()].Work
	if n := &rec.Spec.Needs; rec.Option != 2 || n.Chosen != 0 || n.CPU != 3*grid.CPU || len(n.Options) != 2 {
		t.Errorf("on disk: option %d of %+v, want the second and the job as it was submitted", rec.Option, rec.Spec.Needs)
	}
	r = r.restart()
	for _, m := range r.sent(grid.KindResult) {
		if m.Msg.Attempts[0] == id && m.Msg.Result.Option != 2 {
			t.Errorf("after a restart the result says option %d, want 2", m.Msg.Result.Option)
		}
	}
}

// A run as an option teaches what the class takes without its speedup: after a run of 1 s that is four times as fast,
// an option with the class's own speed is expected to take 4 s.
func TestRunTimesAreNormalisedBySpeedup(t *testing.T) {
	r := newRig(t, wide)
	s := spec(ways(way(8, 4, 1)))
	r.submit(jobID(1), s)
	for range 20 {
		if len(r.fx.Starts) == 0 {
			r.pass(100 * time.Millisecond)
		}
	}
	if len(r.fx.Starts) != 1 {
		t.Fatal("it does not run here")
	}
	id := r.fx.Starts[0].Attempt
	r.now = r.now.Add(time.Second)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: time.Second}})
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Option != 1 {
		t.Fatalf("%v as option %d: want it ended as the first", v.State, v.Option)
	}
	r.join(fastID, 1, "plan9")
	r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
		m.Poll = grid.Poll{ID: 7, Class: grid.ClassOf(s), Needs: grid.Resources{CPU: grid.CPU}, Speed: 1, Cores: grid.CPU,
			Options: []grid.PollOption{{Needs: grid.Resources{CPU: 8 * grid.CPU}, Speedup: 4},
				{Needs: grid.Resources{CPU: grid.CPU}, Speedup: 1}, {Needs: grid.Resources{CPU: 9 * grid.CPU}, Speedup: 9}}}
	})
	a := r.one(grid.KindState).Msg.State
	if len(a.Options) != 3 || a.Options[2].Why != grid.WhyCPU || a.Why != grid.WhyNone {
		t.Fatalf("answered %+v", a)
	}
	if x, y := a.Options[0].ECT.Seconds(), a.Options[1].ECT.Seconds(); x < 0.9 || x > 1.1 || y < 3.6 || y > 4.4 {
		t.Errorf("expected %.2f s as it ran and %.2f s without speedup, want 1 and 4", x, y)
	}
}

// A job of options runs on no node that is of an older version, nor on one that fits none of them.
func TestOptionsNeedNodesThatKnowThem(t *testing.T) {
	r := newRig(t, nil)
	r.join(slowID, 1, "plan9") // its ad does not say that it knows options
	joinWide(r, fastID, 2, 2)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { elsewhere(s); s.Wait = true; ways(way(8, 4, 1), way(4, 1, 1))(s) }))
	r.pass(time.Second)
	if n := len(r.sent(grid.KindPoll)) + len(r.sent(grid.KindOffer)); n > 0 {
		t.Errorf("%d polls and offers, want none", n)
	}
	r.submit(jobID(2), spec(func(s *grid.JobSpec) { elsewhere(s); ways(way(8, 4, 1), way(2, 1, 1))(s) }))
	if o := r.one(grid.KindOffer); o.To != fastID || o.Msg.Offer.Option != 2 {
		t.Errorf("offered to %v as option %d, want the node that fits the second", o.To.Short(), o.Msg.Offer.Option)
	}
}

// A policy that places tasks only where they start at once is shown, of each node, an option that does, though another
// would end sooner.
func TestTasksForIdleNodesRunAsTheOptionThatStartsAtOnce(t *testing.T) {
	for policy, want := range map[string]uint8{"workqueue": 2, "mct": 1} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 2)
		joinWide(r, slowID, 8, 2)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			elsewhere(s)
			s.Policy = policy
			ways(way(8, 4, 1), way(2, 1, 1))(s)
		}))
		for _, p := range slices.Clone(r.sent(grid.KindPoll)) {
			a := grid.State{ID: p.Msg.Poll.ID, ECT: time.Second, Speed: 1, Cores: 8 * grid.CPU, Mine: 1,
				Options: []grid.OptionState{{Ready: time.Second, ECT: 2 * time.Second}, {ECT: 4 * time.Second}}}
			r.deliver(p.To, grid.KindState, func(m *grid.Message) { m.State = a })
		}
		if o := r.one(grid.KindOffer); o.Msg.Offer.Option != want {
			t.Errorf("%s: offered as option %d, want %d", policy, o.Msg.Offer.Option, want)
		}
	}
}
