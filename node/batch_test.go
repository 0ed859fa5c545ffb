package node

import (
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// answerAll answers the polls of the last step with the given waits, in seconds; each task takes a second.
func (r *rig) answerAll(waits map[grid.NodeID]int64) {
	r.t.Helper()
	r.answers(waits)()
}

// answers is answerAll for later.
func (r *rig) answers(waits map[grid.NodeID]int64) func() {
	type poll struct {
		to grid.NodeID
		id uint64
	}
	var polls []poll
	for _, s := range r.sent(grid.KindPoll) {
		polls = append(polls, poll{s.To, s.Msg.Poll.ID})
	}
	return func() {
		r.t.Helper()
		for _, p := range polls {
			r.deliver(p.to, grid.KindState, func(m *grid.Message) {
				wait := grid.Seconds(float64(waits[p.to]))
				m.State = grid.State{ID: p.id, Backlog: wait, ECT: wait + 1e9, Speed: 1, Cores: grid.CPU, Mine: 1}
			})
		}
	}
}

// A job of many tasks under a batch policy polls once for all of them, and the tasks that begin before the next event
// are divided by those answers: a node with three seconds of backlog gets three fewer.
func TestManyTasksPlacedTogether(t *testing.T) {
	for _, policy := range []string{"min_min", "max_min", "sufferage", "xsufferage", "qos_min_min", "dfpltf", "utility"} {
		r := newRig(t, func(c *Config) {
			c.MappingInterval = 20 * time.Second
			c.Labels = []grid.Label{{Key: "os", Value: "none"}}
		})
		r.join(fastID, 1, "linux")
		r.join(slowID, 1, "linux")
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Count, s.Policy = 9, policy
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
		}))
		if n := len(r.sent(grid.KindPoll)); n != 2 {
			t.Fatalf("%s: %d polls for 9 tasks, want one for each of 2 nodes", policy, n)
		}
		r.answerAll(map[grid.NodeID]int64{fastID: 0, slowID: 3})
		offers := map[grid.NodeID]int{}
		for _, o := range r.sent(grid.KindOffer) {
			offers[o.To]++
		}
		if offers[fastID] != 6 || offers[slowID] != 3 {
			t.Errorf("%s: offers %v, want 6 to the idle node and 3 to the other", policy, offers)
		}
		if n := len(r.sent(grid.KindPoll)); n != 0 {
			t.Errorf("%s: %d more polls", policy, n)
		}
	}
}

// Tasks beyond the window are placed in a later round, when half of it is free; in the end all are placed.
func TestBatchRounds(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Window, c.MappingInterval = 6, 20*time.Second
		c.Labels = []grid.Label{{Key: "os", Value: "none"}}
	})
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Count, s.Policy = 12, "sufferage"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	rounds, placedAll := 0, 0
	var open []grid.Send
	for range 60 {
		if len(r.sent(grid.KindPoll)) > 0 {
			rounds++
			r.answerAll(nil)
			offers := r.sent(grid.KindOffer)
			for _, o := range offers {
				o.Msg.Attempts = nil
				open = append(open, o)
			}
			placedAll += len(offers)
		}
		if len(open) == 0 {
			break
		}
		o := open[0]
		open = open[1:]
		r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
	}
	if placedAll != 12 || rounds < 3 || rounds > 5 {
		t.Errorf("%d tasks placed in %d rounds, want 12 in about 4", placedAll, rounds)
	}
	if v, _ := r.n.Job(jobID(1)); v.Pending != 0 || r.n.Gauges().InFlight != 0 {
		t.Errorf("%d pending and %d under way, want none", v.Pending, r.n.Gauges().InFlight)
	}
}

// A policy that asks on although only this node is left, whose answer it has, does not loop.
func TestPollingOnlySelfEnds(t *testing.T) {
	r := newRig(t, nil)
	r.n.peers.Policies().Use(r.cfg.Policy, pollsForEver{})
	r.submit(jobID(2), spec(nil))
	r.want(jobID(2), grid.Pending)
}

// pollsForEver polls all nodes and never has enough answers.
type pollsForEver struct{}

func (pollsForEver) Poll(_ grid.Time, _ *grid.Task, v balance.View, dst []grid.NodeID) []grid.NodeID {
	for _, s := range v.Nodes {
		dst = append(dst, s.Node)
	}
	return dst
}

func (pollsForEver) Choose(grid.Time, *grid.Task, []balance.State) balance.Choice {
	return balance.Choice{Act: balance.PollMore}
}

func (pollsForEver) Note(balance.Outcome) {}

// A batch also gives a node on probation no more attempts than its limit.
func TestBatchRespectsProbation(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.MappingInterval = time.Hour
		c.Labels = []grid.Label{{Key: "os", Value: "none"}}
	})
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Count, s.Policy = 60, "min_min"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.answerAll(map[grid.NodeID]int64{slowID: 1000})
	offers := map[grid.NodeID]int{}
	for _, o := range r.sent(grid.KindOffer) {
		offers[o.To]++
	}
	if offers[fastID] == 0 || offers[fastID] > 8 || offers[slowID] > 8 {
		t.Errorf("offers %v to nodes of one core before their first results, want at most 8", offers)
	}
}

// A job that is cancelled during a mapping event's poll delays no other: the answers place the tasks that came
// meanwhile.
func TestCancelDuringMappingPoll(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.MappingInterval = 20 * time.Second
		c.Labels = []grid.Label{{Key: "os", Value: "none"}}
	})
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	many := spec(func(s *grid.JobSpec) {
		s.Count, s.Policy = 5, "min_min"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	})
	r.submit(jobID(1), many)
	answer := r.answers(nil)
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 9, Job: jobID(1)})
	r.submit(jobID(2), many)
	answer()
	if n := len(r.sent(grid.KindOffer)); n != 5 {
		t.Errorf("%d offers of the second job, want 5", n)
	}
}

// A task whose lost attempt ends with success while it awaits a mapping event is not offered again, however long the
// result's files take.
func TestResultEndsTheWaitForMapping(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} })
	r.join(fastID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Policy = "min_min"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.answerAll(nil)
	first := r.one(grid.KindOffer)
	r.deliverFor(first.To, grid.KindAccept, first.Msg.Offer.ID, nil)
	r.join(slowID, 1, "linux")
	r.deliver(first.To, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{first.Msg.Offer.ID}, grid.Refusal{Why: grid.WhyLost}
	})
	res := *exitZero
	res.Outputs = []grid.File{{Path: "out", Blob: grid.BlobID{1}, Size: 1 << 40}}
	r.deliverFor(first.To, grid.KindResult, first.Msg.Offer.ID, &res)
	if len(r.fx.Fetches) != 1 {
		t.Fatalf("%d fetches, want that of the result's file", len(r.fx.Fetches))
	}
	for range 20 {
		if r.pass(time.Second); len(r.sent(grid.KindOffer)) > 0 {
			t.Fatal("the task is offered again")
		}
		r.answerAll(nil)
	}
}
