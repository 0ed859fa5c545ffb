package node

import (
	"maps"
	"slices"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/deposit"
)

// mappingRig is an owner that runs nothing itself, and nodes of one core that are told the execution times of classes,
// in seconds by node.
func mappingRig(t *testing.T, times map[string][]float64, more ...func(*Config)) *rig {
	r := newRig(t, func(c *Config) {
		for _, f := range more {
			f(c)
		}
		c.Labels = []grid.Label{{Key: "os", Value: "none"}}
		for _, class := range slices.Sorted(maps.Keys(times)) {
			c.Given = append(c.Given, grid.Rate{Class: class, Alpha: 1, Mu: 1})
		}
	})
	for n, id := range []grid.NodeID{fastID, slowID} {
		r.step(grid.Event{Kind: grid.EvPeerUp, Peer: id, RTT: time.Millisecond, Kinds: grid.AllKinds,
			Features: grid.AllFeatures})
		one := grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
		ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 1}, Speed: 1, Availability: 1, Capacity: one, Free: one,
			Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: "linux"}}}
		for _, class := range slices.Sorted(maps.Keys(times)) {
			ad.Rates = append(ad.Rates, grid.Rate{Class: class, Mu: 1 / times[class][n]})
		}
		r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
	}
	return r
}

func (r *rig) submitClass(i byte, policy, class string) { r.submitWith(i, policy, class, nil) }

func (r *rig) submitWith(i byte, policy, class string, inputs []grid.File) {
	r.submit(jobID(i), spec(func(s *grid.JobSpec) {
		s.Policy, s.Class, s.Inputs = policy, class, inputs
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
}

// mapAnswers returns what answers the polls of the last step: each node is ready after a time, and needs the time of
// the class that it was asked about.
func (r *rig) mapAnswers(times map[string][]float64, ready ...float64) func() {
	polls := r.sent(grid.KindPoll)
	for i := range polls {
		polls[i].Msg.Poll.Class = string([]byte(polls[i].Msg.Poll.Class))
	}
	return func() {
		for _, p := range polls {
			n := slices.Index([]grid.NodeID{fastID, slowID}, p.To)
			r.deliver(p.To, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: p.Msg.Poll.ID, Backlog: grid.Seconds(ready[n]),
					ECT: grid.Seconds(ready[n] + times[p.Msg.Poll.Class][n]), Speed: 1, Cores: grid.CPU, Have: p.Msg.Poll.Mine}
			})
		}
	}
}

// mapped is the classes offered in the last step, by node.
func (r *rig) mapped() (out [2]string) {
	for _, o := range r.sent(grid.KindOffer) {
		out[slices.Index([]grid.NodeID{fastID, slowID}, o.To)] += o.Msg.Offer.Class
	}
	return out
}

// At a mapping event the tasks of all jobs are mapped together, each policy in its own way, and those that begin are
// offered. The tables are worked out by hand; what waits is not offered.
func TestMappingAcrossJobs(t *testing.T) {
	three := map[string][]float64{"a": {4, 6}, "b": {3, 9}, "c": {5, 5.5}}
	for _, c := range []struct {
		policy string
		times  map[string][]float64
		want   [2]string
	}{
		// b on 1 at 3; then c on 2 at 5.5, and a on 1 at 7.
		{"min_min", three, [2]string{"b", "c"}},
		// c on 1 at 5; then b on 1 at 8, and a on 2 at 6.
		{"max_min", three, [2]string{"c", "a"}},
		// b, which loses 6, on 1 at 3; then c, 2.5 against 1, on 2.
		{"sufferage", three, [2]string{"b", "c"}},
		// a loses 96 and goes first, and b makes room. Under min_min b goes first, and a waits for node 1 too.
		{"sufferage", map[string][]float64{"a": {4, 100}, "b": {3, 3.5}}, [2]string{"a", "b"}},
		{"min_min", map[string][]float64{"a": {4, 100}, "b": {3, 3.5}}, [2]string{"b", ""}},
		// By size b, c, a: b on 1 at 6, and c on 2 at 5.6. By completion a, at 9 on 2, is larger than c then.
		{"dfpltf", map[string][]float64{"a": {5, 9}, "b": {6, 7}, "c": {5.5, 5.6}}, [2]string{"b", "c"}},
		{"max_min", map[string][]float64{"a": {5, 9}, "b": {6, 7}, "c": {5.5, 5.6}}, [2]string{"b", "a"}},
	} {
		r := mappingRig(t, c.times)
		classes := slices.Sorted(maps.Keys(c.times))
		r.submitClass(1, c.policy, classes[0])
		reply := r.mapAnswers(c.times, 0, 0)
		for i, class := range classes[1:] {
			r.submitClass(byte(i+2), c.policy, class)
		}
		reply()
		if got := r.mapped(); got != c.want {
			t.Errorf("%s of %v: offered %q, want %q", c.policy, c.times, got, c.want)
		}
	}
}

// Under utility the tasks of the most value begin, bid × size, also where nodes go by another order. What would be done
// sooner behind them waits.
func TestMappingByUtility(t *testing.T) {
	times := map[string][]float64{"a": {4, 600}, "b": {3, 600}, "c": {5, 5}}
	for policy, want := range map[string][2]string{"utility:um_p1": {"a", "c"}, "min_min": {"b", "c"}} {
		r := mappingRig(t, times, func(c *Config) { c.Order.Rule = "fifo" })
		submit := func(i byte, class string, bid grid.Bid) {
			r.submit(jobID(i), spec(func(s *grid.JobSpec) {
				s.Policy, s.Class, s.Rules.Bid = policy, class, bid*grid.UsualBid
				s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
			}))
		}
		submit(1, "b", 1)
		reply := r.mapAnswers(times, 0, 0)
		submit(2, "a", 3)
		submit(3, "c", 1)
		reply()
		if got := r.mapped(); got != want {
			t.Errorf("%s: offered %q, want %q", policy, got, want)
		}
	}
}

// Under utility a node of eight cores begins four tasks as options of two cores and not one of eight; min_min sees the
// option that is done first alone. Either asks about both.
func TestUtilityChoosesAmongOptions(t *testing.T) {
	for policy, want := range map[string][]uint8{"utility:um_p1": {2, 2, 2, 2}, "min_min": {1}} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			elsewhere(s)
			ways(way(8, 6.5, 1), way(2, 1, 1))(s)
			s.Policy, s.Count = policy, 4
		}))
		p := r.one(grid.KindPoll)
		if len(p.Msg.Poll.Options) != 2 {
			t.Fatalf("%s: the poll asks about options %v, want both", policy, p.Msg.Poll.Options)
		}
		id := p.Msg.Poll.ID
		r.deliver(fastID, grid.KindState, func(m *grid.Message) {
			m.State = grid.State{ID: id, ECT: 10 * time.Second, Speed: 1, Cores: 8 * grid.CPU, Mine: 1,
				Options: []grid.OptionState{{ECT: 10 * time.Second}, {ECT: 65 * time.Second}}}
		})
		var got []uint8
		for _, o := range r.sent(grid.KindOffer) {
			got = append(got, o.Msg.Offer.Option)
		}
		if policy == "min_min" {
			got = got[:min(len(got), 1)] // it counts a task as one core
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: offered as options %v, want %v", policy, got, want)
		}
	}
}

// A task that was mapped and has not begun is mapped again with what came meanwhile: the shorter one that came later
// gets the node. With ageing the one that has waited does.
func TestNotBegunIsMappedAgain(t *testing.T) {
	times := map[string][]float64{"a": {4, 600}, "b": {3, 600}, "d": {2, 600}}
	for policy, want := range map[string][2]string{"min_min": {"d"}, "min_min:3.5": {"a"}} {
		r := mappingRig(t, times)
		r.submitClass(1, policy, "a")
		reply := r.mapAnswers(times, 0, 0)
		r.submitClass(2, policy, "b")
		reply()
		if got := r.mapped(); got != [2]string{"b"} {
			t.Fatalf("%s: offered %q, want b to the fast node", policy, got)
		}
		first := r.one(grid.KindOffer)
		r.deliverFor(first.To, grid.KindAccept, first.Msg.Offer.ID, nil)
		id := first.Msg.Offer.ID
		r.now += grid.Time(2900 * time.Millisecond)
		r.submitClass(3, policy, "d")
		reply = r.mapAnswers(times, 0.1, 0)
		if len(r.sent(grid.KindPoll)) != 2 {
			t.Fatalf("%s: %d polls, want an event for the task that came", policy, len(r.sent(grid.KindPoll)))
		}
		r.deliverFor(fastID, grid.KindResult, id, exitZero)
		reply()
		if got := r.mapped(); got != want {
			t.Errorf("%s: offered %q, want %q", policy, got, want)
		}
	}
}

// Events come no sooner after each other than the interval, but for a burst of more tasks than the count.
func TestMappingEventsAreApart(t *testing.T) {
	times := map[string][]float64{"a": {4, 4}}
	r := mappingRig(t, times)
	r.submitClass(1, "min_min", "a")
	r.mapAnswers(times, 50, 50)()
	if len(r.sent(grid.KindOffer)) != 0 {
		t.Fatal("a task is offered that begins in 50 s")
	}
	begin := r.now
	r.submitClass(2, "min_min", "a")
	if n := len(r.sent(grid.KindPoll)); n != 0 {
		t.Fatalf("%d polls at once after an event", n)
	}
	r.pass(10*time.Second, grid.TimerRetry)
	if n, after := len(r.sent(grid.KindPoll)), r.now.Sub(begin); n != 2 || after < 249*time.Millisecond ||
		after > 260*time.Millisecond {
		t.Fatalf("%d polls after %v, want 2 after 250 ms", n, after)
	}
	r.mapAnswers(times, 50, 50)()
	begin = r.now
	r.pass(49*time.Second, grid.TimerRetry)
	if n, after := len(r.sent(grid.KindPoll)), r.now.Sub(begin); n != 2 || after < 29*time.Second {
		t.Errorf("%d polls after %v without news, want none for 30 s", n, after)
	}
	r.mapAnswers(times, 50, 50)()
	r.submit(jobID(3), spec(func(s *grid.JobSpec) {
		s.Policy, s.Class, s.Count = "min_min", "a", 100
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	if n := len(r.sent(grid.KindPoll)); n != 2 {
		t.Errorf("%d polls when 100 tasks have come at once, want 2 before the interval is over", n)
	}
	if broken := r.n.coordinator.BrokenInvariant(); broken != "" {
		t.Error(broken)
	}
}

// planner sees how many tasks a policy places at an event.
type planner struct {
	balance.Mapper
	placed int
}

func (p *planner) Map(now grid.Time, m *balance.MetaTask) *balance.Plan {
	plan := p.Mapper.Map(now, m)
	p.placed = len(plan.Placed)
	return plan
}

// A policy places a few windows of tasks at an event, however many would begin; and one task that comes back is no
// burst, however many of its job wait.
func TestAnEventIsBounded(t *testing.T) {
	times := map[string][]float64{"a": {0.001, 0.001}}
	r := mappingRig(t, times)
	made, err := r.n.peers.Policies().Get("min_min")
	if err != nil {
		t.Fatal(err)
	}
	p := &planner{Mapper: made.(balance.Mapper)}
	r.n.peers.Policies().Use("min_min", p)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Policy, s.Class, s.Count = "min_min", "a", 1000
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.mapAnswers(times, 0, 0)()
	offers, window := r.sent(grid.KindOffer), r.cfg.Window
	if len(offers) != window || p.placed != 4*window {
		t.Fatalf("%d tasks are offered and %d have a place, want %d and %d", len(offers), p.placed, window, 4*window)
	}
	first := offers[0]
	to, id := first.To, first.Msg.Offer.ID
	r.deliver(to, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyDisk}
	})
	if n := len(r.sent(grid.KindPoll)); n != 0 {
		t.Errorf("%d polls for a task that came back, want none before the interval is over", n)
	}
}

// An idle node that asks for work gets a task that was mapped and has not begun if it ends sooner there than where it
// was mapped to, or once it has waited half as long again as was predicted; the offer is to that node.
func TestMappedTaskIsGranted(t *testing.T) {
	times := map[string][]float64{"a": {4, 20}}
	for _, c := range []struct {
		ready  float64 // of the fast node, seconds; the task would be done there 4 s later
		waited time.Duration
		want   int
	}{{10, 0, 0}, {10, 20 * time.Second, 0}, {10, 22 * time.Second, 1}, {15, 0, 0}, {17, 0, 1}, {30, 0, 1}} {
		r := mappingRig(t, times, func(c *Config) { c.Pull = true })
		r.submitClass(1, "max_min", "a")
		r.mapAnswers(times, c.ready, 100)()
		if n := len(r.sent(grid.KindOffer)); n != 0 {
			t.Fatalf("%d offers of a task that begins in %g s", n, c.ready)
		}
		r.now += grid.Time(c.waited)
		r.deliver(slowID, grid.KindPull, func(m *grid.Message) {
			m.Poll.Needs = grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
		})
		offers := r.sent(grid.KindOffer)
		if len(offers) != c.want {
			t.Errorf("ready in %g s there, asked after %v: %d offers, want %d", c.ready, c.waited, len(offers), c.want)
			continue
		}
		if c.want == 1 && (offers[0].To != slowID || !offers[0].Msg.Offer.Pulled) {
			t.Errorf("ready in %g s there, asked after %v: offered to %v, pulled: %v; want to the node that asked", c.ready,
				c.waited, offers[0].To, offers[0].Msg.Offer.Pulled)
		}
	}
}

// A node that has a job's input of 200 MB, which takes the other 16 s to get, gets the job under xsufferage though it
// is slower by a second; under sufferage, to which inputs are nothing, the faster one does. What shows that it has it
// is a result of another job with the same input.
func TestNodeThatHoldsTheInputWins(t *testing.T) {
	times := map[string][]float64{"a": {4, 5}}
	big := []grid.File{{Path: "data", Blob: grid.BlobID{1}, Size: 200_000_000}}
	other := []grid.File{{Path: "data", Blob: grid.BlobID{2}, Size: 200_000_000}}
	delivered := func(r *rig, policy string) {
		r.submitWith(1, policy, "a", big)
		r.mapAnswers(times, 100, 0)()
		o := r.one(grid.KindOffer)
		if o.To != slowID {
			t.Fatalf("the first job is offered to %v, want the node that is free", o.To.Short())
		}
		id := o.Msg.Offer.ID
		r.deliverFor(slowID, grid.KindAccept, id, nil)
		r.deliverFor(slowID, grid.KindResult, id, exitZero)
	}
	for _, c := range []struct {
		what   string
		before func(*rig, string)
		policy string
		inputs []grid.File
		want   [2]string
	}{
		{"it delivered one", delivered, "xsufferage", big, [2]string{"", "a"}},
		{"it has another input", delivered, "xsufferage", other, [2]string{"a", ""}},
		{"nobody has it", func(*rig, string) {}, "xsufferage", big, [2]string{"a", ""}},
		{"inputs do not count", delivered, "sufferage", big, [2]string{"a", ""}},
	} {
		r := mappingRig(t, times)
		c.before(r, c.policy)
		r.now += grid.Time(time.Second)
		r.submitWith(2, c.policy, "a", c.inputs)
		r.mapAnswers(times, 0, 0)()
		if got := r.mapped(); got != c.want {
			t.Errorf("%s, %s: offered %q, want %q", c.what, c.policy, got, c.want)
		}
	}
}

// A member of a job's register that says that it has the inputs is known to have them: it needs no time to fetch them,
// and 16 s if it refused to keep them.
func TestMemberThatKeepsTheInputsHasThem(t *testing.T) {
	big := []grid.File{{Path: "data", Blob: grid.BlobID{1}, Size: 200_000_000}}
	for why, want := range map[grid.Why]float64{grid.WhyNone: 0, grid.WhyRoom: 16} {
		r := mappingRig(t, map[string][]float64{"a": {4, 5}}, func(c *Config) { c.Members = 3 })
		r.submitWith(1, "xsufferage", "a", big)
		for _, k := range []grid.Kind{grid.KindKeepaliveAck, grid.KindWriteAck} {
			for _, s := range slices.Clone(r.fx.Sends) {
				g := s.Msg.Register
				r.deliver(s.To, k, func(m *grid.Message) {
					m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
				})
			}
		}
		r.deliver(slowID, grid.KindDepositAck, func(m *grid.Message) {
			m.Attempts, m.Refusal = []grid.AttemptID{deposit.InputsID(jobID(1))}, grid.Refusal{Why: why}
		})
		s := r.n.peers.Answer(r.now, slowID, "a", &grid.JobSpec{Inputs: big}, 0, &grid.State{}, 0)
		if s.Fetch != want {
			t.Errorf("it said %q: the inputs are there after %g s, want %g", why, s.Fetch, want)
		}
	}
}
