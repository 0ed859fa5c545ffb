package node

import (
	"testing"
	"time"

	"skep/grid"
)

// newest returns the newest decision about a task.
func (r *rig) newest(id grid.JobID) grid.Decision {
	r.t.Helper()
	all := r.n.Decisions(id, 0, 1)
	if len(all) == 0 {
		r.t.Fatal("no decision is in the log")
	}
	return all[len(all)-1]
}

// A decision names each node considered, with what was expected of it and why: the answer of one that was polled, the
// state of this node, and what is known of the one that was not asked.
func TestDecisionNamesTheNodesConsidered(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 4, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(nil))
	r.answer(fastID)
	d := r.newest(jobID(1))
	if d.At != r.now || len(d.Nodes) != 3 || d.More != 0 || !d.Nodes[0].Chosen ||
		d.Nodes[0].Node != r.task(jobID(1)).Worker {
		t.Fatalf("the decision is %+v", d)
	}
	for _, n := range d.Nodes {
		switch {
		case n.Node == selfID && (n.Basis != grid.BasisDefault || n.Run != time.Second || n.Move != 0):
			t.Errorf("this node: %+v, want the second assumed of a class that nobody has run", n)
		case n.Node != selfID && !n.Asked, n.Node == fastID && n.Basis != grid.BasisUnproven:
			t.Errorf("a peer: %+v, want that it was asked, and that not less is believed than what is usual", n)
		case n.Node == slowID && (n.Basis != grid.BasisAnswer || n.ECT() < time.Hour):
			t.Errorf("the other peer: %+v, want its answer of an hour", n)
		}
	}
}

// Why a node won: it is the only one that fits, the earliest, or idle and asked; and a task that its policy keeps says
// so with what it considered.
func TestDecisionSaysWhy(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	if d := r.newest(jobID(1)); d.Why != grid.VerdictOnly || len(d.Nodes) != 1 {
		t.Errorf("alone: %+v", d)
	}
	r.join(fastID, 1, "linux")
	r.submit(jobID(2), spec(nil)) // this node is busy with the first
	r.answer(fastID)
	if d := r.newest(jobID(2)); d.Why != grid.VerdictEarliest || d.Nodes[0].Node != fastID {
		t.Errorf("another is idle: %+v", d)
	}
	r.submit(jobID(3), spec(func(s *grid.JobSpec) { s.Policy = "workqueue" }))
	r.answerAll(map[grid.NodeID]int64{fastID: 3}) // nobody is idle
	d := r.newest(jobID(3))
	waits := r.task(jobID(3)).Waits.Why
	if d.Why != grid.VerdictKept || len(d.Nodes) != 2 || d.Nodes[0].Chosen || waits != grid.WhyPolicy {
		t.Errorf("it waits for an idle node: %+v, %v", d, waits)
	}
}

// A peer is polled for the finest level of a class if it knows levels, else for the class, as by older versions; among
// them those that know levels by another mark and say so by feature 2.
func TestPollsNameLevelsToThoseWhoKnow(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.joinAs(slowID, 1, "linux", grid.AllFeatures&^(1<<grid.FeatureLevels)|1<<2)
	s := spec(func(s *grid.JobSpec) { s.Command = []string{"sh", "-c", "sleep 1"} })
	r.submit(jobID(1), s)
	asked := map[grid.NodeID]string{}
	for _, m := range r.sent(grid.KindPoll) {
		asked[m.To] = m.Msg.Poll.Class
	}
	if want := grid.LevelOf(s); asked[fastID] != want || asked[slowID] != "process:sh" {
		t.Errorf("polled for %v, want for %q and for the class", asked, want)
	}
}

// What a worker has run counts by script: its answer to a poll for one text is what that text took, and for a new one
// what the program took.
func TestAnswersAreByScript(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	text := func(s string) *grid.JobSpec {
		return spec(func(j *grid.JobSpec) { j.Command = []string{"sh", "-c", s} })
	}
	for k := range 12 {
		s, took := text("sleep 0.05"), 50*time.Millisecond
		if k%2 == 0 {
			s, took = text("sleep 3"), 3*time.Second
		}
		id := foreignAttempt(byte(k))
		r.offer(fastID, id, s)
		r.now = r.now.Add(took)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: took}})
	}
	answer := func(class string) float64 {
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: class, Needs: oneCore, Speed: 1, Cores: grid.CPU}
		})
		return r.one(grid.KindState).Msg.State.ECT.Seconds()
	}
	short, long := text("sleep 0.05"), text("sleep 3")
	if ect := answer(grid.LevelOf(short)); ect > 0.1 {
		t.Errorf("%g s are answered for the short text", ect)
	}
	if ect := answer(grid.LevelOf(long)); ect < 2.9 || ect > 3.1 {
		t.Errorf("%g s are answered for the long text", ect)
	}
	if ect := answer(grid.LevelOf(text("x"))); ect < 0.5 || ect > 2.9 {
		t.Errorf("%g s are answered for a new text", ect)
	}
}
