package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/requirement"
)

func expression(t *testing.T, text string, use requirement.Use) *requirement.Expression {
	t.Helper()
	x, err := requirement.Parse(text, use)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// joinNewer connects a peer whose version knows requirements, and which is busy for a time.
func joinNewer(r *rig, id grid.NodeID, speed float64, os string, busy time.Duration) {
	r.t.Helper()
	r.join(id, speed, os)
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 9}, Speed: speed, Availability: 1, Backlog: busy,
		Capacity: grid.Resources{CPU: grid.CPU}, Engines: []string{grid.EngineProcess},
		Labels: []grid.Label{{Key: "os", Value: os}, {Key: grid.RequirementLabel, Value: grid.FeatureValue}}}
	if busy == 0 {
		ad.Free = ad.Capacity
	}
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
}

// requiring is a job of which an expression must hold, and which ranks nodes by another one.
func requiring(t *testing.T, where, rank string) *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		s.Needs.Where = expression(t, where, requirement.Where)
		s.Needs.AddFeature(grid.RequirementLabel)
		if rank != "" {
			s.Rules.Rank = expression(t, rank, requirement.Rank)
		}
	})
}

// A task goes only to a node of which its requirement holds, however soon others would be done with it.
func TestTasksGoWhereTheirRequirementHolds(t *testing.T) {
	r := newRig(t, nil)
	joinNewer(r, fastID, 10, "linux", 0)
	joinNewer(r, slowID, 1, "plan9", 0)
	r.submit(jobID(1), requiring(t, "node.labels.os == 'plan9' && node.speed < 2", ""))
	r.answer(slowID)
	if o := r.one(grid.KindOffer); o.To != slowID {
		t.Errorf("offered to %v, want the node that meets the requirement", o.To.Short())
	}
}

// Of the nodes where a task would start at once, as they answer, the one with the highest rank gets it; a rank keeps no
// task waiting.
func TestRankChoosesAmongIdleNodes(t *testing.T) {
	for busy, want := range map[time.Duration]grid.NodeID{0: slowID, time.Minute: fastID} {
		r := newRig(t, nil)
		joinNewer(r, fastID, 10, "plan9", 0)
		joinNewer(r, slowID, 1, "plan9", 0)
		r.submit(jobID(1), requiring(t, "node.labels.os == 'plan9'", "-node.speed"))
		for _, p := range slices.Clone(r.sent(grid.KindPoll)) {
			s := grid.State{ID: p.Msg.Poll.ID, ECT: time.Second, Speed: 1, Cores: grid.CPU, Mine: 1}
			if p.To == slowID {
				s.ECT, s.Backlog = busy+2*time.Second, busy
			}
			r.deliver(p.To, grid.KindState, func(m *grid.Message) { m.State = s })
		}
		if o := r.one(grid.KindOffer); o.To != want {
			t.Errorf("with the node that it ranks higher busy for %v: offered to %v, want %v", busy, o.To.Short(), want.Short())
		}
	}
}

// A node decides about what it accepts when an attempt is offered, by the hour that its driver has said.
func TestNodesRefuseWhatTheyDoNotAccept(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Accept = expression(t, "job.class != 'b' && time.hour >= 18", requirement.Accept)
	})
	r.join(fastID, 1, "plan9")
	offer := func(n uint32, class string) *grid.Refusal {
		offerUnreplicated(r, spec(func(s *grid.JobSpec) { s.Class = class }), n)
		if s := r.sent(grid.KindRefuse); len(s) == 1 {
			return &s[0].Msg.Refusal
		}
		r.one(grid.KindAccept)
		return nil
	}
	hour := func(h uint8) {
		r.step(grid.Event{Kind: grid.EvHour, Observed: grid.Observed{Hour: requirement.Hour{Known: true, OfDay: h}}})
	}
	if w := offer(1, "a"); w == nil || w.Why != grid.WhyHour || w.Why.Never() {
		t.Errorf("before the hour is known: %+v, want it refused for now", w)
	}
	hour(17)
	if w := offer(2, "a"); w == nil || w.Why != grid.WhyHour {
		t.Errorf("at 17: %+v, want it refused", w)
	}
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Wait, s.Needs.Labels = true, []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	if v := r.task(jobID(1)); v.State == grid.Ended || v.Worker == selfID {
		t.Errorf("a job submitted here at 17: %+v, want that it waits", v)
	}
	hour(18)
	if v := r.task(jobID(1)); v.Worker != selfID {
		t.Errorf("the job submitted here, at 18: %+v, want that it runs here", v)
	}
	if w := offer(3, "a"); w != nil {
		t.Errorf("at 18: %+v, want it accepted", w)
	}
	if w := offer(4, "b"); w == nil || w.Why != grid.WhyAccept || !w.Why.Never() {
		t.Errorf("of class b at 18: %+v, want it refused", w)
	}
}

// Nobody asks a node whose ad excludes the job; a job that no node accepts ends and says so.
func TestNodesThatDoNotAcceptAreNotAsked(t *testing.T) {
	r := newRig(t, nil)
	ad := &grid.Ad{Node: fastID, Seq: grid.Seq{Boot: 1, N: 9}, Speed: 10, Availability: 1,
		Capacity: grid.Resources{CPU: grid.CPU}, Free: grid.Resources{CPU: grid.CPU}, Engines: []string{grid.EngineProcess},
		Labels: []grid.Label{{Key: "os", Value: "plan9"}},
		AdWork: grid.AdWork{Accept: expression(t, "job.class != 'b'", requirement.Accept)}}
	r.join(fastID, 10, "plan9")
	r.deliver(fastID, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Class = "b"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}}
	}))
	for end := r.now.Add(time.Minute); r.task(jobID(1)).State != grid.Ended && r.now < end; {
		if len(r.sent(grid.KindOffer))+len(r.sent(grid.KindPoll)) > 0 {
			t.Fatal("the node that does not accept the job is asked or offered a task")
		}
		r.pass(time.Second)
	}
	if v := r.task(jobID(1)); v.Result == nil || v.Result.Cause != grid.Unplaceable {
		t.Errorf("%v, %+v: want it unplaceable", v.State, v.Result)
	}
}
