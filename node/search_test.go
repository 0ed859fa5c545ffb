package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A search succeeds when the node that it found has accepted the task, and fails when that node refused; the task's
// history says how the node was found.
func TestSearchSucceedsWithAcceptedOffer(t *testing.T) {
	for _, taken := range []bool{true, false} {
		r := newRig(t, nil)
		r.join(slowID, 1, "linux")
		s := spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}} })
		ad := &grid.Ad{Node: fastID, Seq: grid.Seq{Boot: 1, N: 1}, Name: "far", Speed: 1, Availability: 1,
			Capacity: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB},
			Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: "plan9"}}}
		r.submit(jobID(1), s)
		f := r.sent(grid.KindFind)[0].Msg.Find
		r.deliver(slowID, grid.KindHit, func(m *grid.Message) {
			m.Find.ID, m.Find.Asker, m.Find.Hops, m.Digest = f.ID, f.Asker, 2, []grid.AdEntry{{Ad: ad, Hops: 1}}
		})
		if got := r.n.discovery.Stats(); got.Found != 1 || got.Met != 0 {
			t.Fatalf("%+v: want it found, and not yet met", got)
		}
		r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: 1e6, Kinds: grid.AllKinds})
		if len(r.sent(grid.KindPoll)) > 0 {
			r.answer(fastID)
		}
		id := r.one(grid.KindOffer).Msg.Offer.ID
		r.deliver(fastID, map[bool]grid.Kind{true: grid.KindAccept, false: grid.KindRefuse}[taken], func(m *grid.Message) {
			m.Attempts = []grid.AttemptID{id}
			if !taken {
				m.Refusal = grid.Refusal{Why: grid.WhyQueue}
			}
		})
		if got := r.n.discovery.Stats(); taken && got.Met != 1 || !taken && got.Refused != 1 {
			t.Errorf("taken %v: %+v", taken, got)
		}
		detail := ""
		for _, tr := range r.task(jobID(1)).Traces {
			if tr.What == grid.TraceSearch && tr.Node == fastID {
				detail = tr.Refusal.Detail
			}
		}
		if !strings.Contains(detail, "2") || !strings.Contains(detail, "learning") {
			t.Errorf("the history of the search: %q", detail)
		}
	}
}

// answerSearch answers the walk of the last step with a node and its labels.
func (r *rig) answerSearch(id grid.NodeID, os string) {
	r.t.Helper()
	f := r.sent(grid.KindFind)[0].Msg.Find
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 1}, Name: "found", Speed: 1, Availability: 1,
		Capacity: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB},
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: os}}}
	r.deliver(slowID, grid.KindHit, func(m *grid.Message) {
		m.Find.ID, m.Find.Asker, m.Find.Hops, m.Digest = f.ID, f.Asker, 2, []grid.AdEntry{{Ad: ad, Hops: 1}}
	})
}

// A node with more connections than its view holds evicts a silent connected node from the view. When a search finds
// that one, the task goes there: it is not searched for again and again.
func TestConnectedNodeOutsideViewIsReadmitted(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Gossip.Neighbours, c.Gossip.View = 2, 5 })
	r.join(slowID, 1, "linux")
	r.join(grid.NodeID{4}, 1, "linux")
	r.join(fastID, 1, "plan9")
	for i := byte(5); i < 9; i++ {
		r.now = r.now.Add(time.Second)
		r.join(grid.NodeID{i}, 1, "linux")
	}
	if r.n.gossip.Peer(fastID) != nil || !r.n.peers.Connected(fastID) {
		t.Fatal("the node is still in the view, or not connected: this tests nothing")
	}
	r.submit(jobID(1),
		spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}} }))
	r.answerSearch(fastID, "plan9")
	if to := r.one(grid.KindOffer).To; to != fastID {
		t.Errorf("offered to %v, want %v; traces %v", to, fastID, r.task(jobID(1)).Traces)
	}
}

// An old ad of a connected node, which another node repeats, does not make the same search go out as fast as it is
// answered.
func TestOldAdDoesNotRepeatSearch(t *testing.T) {
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	r.join(fastID, 1, "linux") // it no longer says plan9
	r.submit(jobID(1),
		spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}} }))
	began, searches := r.now, 0
	for r.task(jobID(1)).State != grid.Ended && searches < 100 {
		if len(r.sent(grid.KindFind)) > 0 {
			searches++
			r.answerSearch(fastID, "plan9")
			continue
		}
		r.pass(time.Minute)
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Unplaceable || searches > 10 ||
		r.now.Sub(began) < 30*time.Second {
		t.Errorf("%v after %d searches in %v: want it unplaceable after a few, with pauses: %v", v.State, searches,
			r.now.Sub(began), v.Traces)
	}
}

// A node that was drained and never came back: a task that no other node can run ends when any other node would be
// forgotten, and does not wait for a day.
func TestDrainedNodeThatNeverReturnsIsForgotten(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "windows")
	draining := *r.n.gossip.Peer(fastID).Ad
	draining.Draining, draining.Seq.N = true, 2
	r.deliver(fastID, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: &draining}} })
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	gone := r.now
	r.submit(jobID(1),
		spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}} }))
	for r.task(jobID(1)).State != grid.Ended && r.now < gone.Add(time.Hour) {
		r.pass(time.Second)
	}
	waited, expire := r.now.Sub(gone), r.cfg.Gossip.Expire
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Unplaceable || waited < expire ||
		waited > expire+2*time.Minute {
		t.Errorf("after %v it is %v, %v: want it ended as unplaceable soon after %v", waited, v.State, v.Result, expire)
	}
}
