package membership

import (
	"testing"
	"time"

	"skep/grid"
)

const (
	start   = grid.Time(time.Hour)
	confirm = 10 * time.Second
)

// world is a node's submissions, and what they see of other nodes.
type world struct {
	*Submissions
	now    grid.Time
	fx     grid.Effects
	chosen []Job // since the world began

	ads        []*grid.Ad
	old        map[grid.NodeID]bool // they show a job to others than its owner
	alive      map[grid.NodeID]bool
	room       map[grid.NodeID]uint32
	expectsAds bool

	probed []grid.NodeID // since the world began
	looks  int           // number of times that a node was looked at for a submission
}

func newWorld(members int, change func(*Config)) *world {
	w := &world{now: start, alive: map[grid.NodeID]bool{}, room: map[grid.NodeID]uint32{}, old: map[grid.NodeID]bool{}}
	cfg := Config{Members: members, Confirm: confirm, Timer: grid.Timer{Kind: grid.TimerRegister, Key: 9},
		Contacts: w, Keepalives: w}
	if change != nil {
		change(&cfg)
	}
	w.Submissions = new(New(cfg, grid.NewRand(7, 1)))
	w.Start(start)
	return w
}

func (w *world) Candidates(features grid.FeatureSet) (ads []*grid.Ad) {
	for _, ad := range w.ads {
		if features == 0 || !w.old[ad.Node] {
			ads = append(ads, ad)
		}
	}
	return ads
}

func (w *world) ExpectsAds() bool                         { return w.expectsAds }
func (w *world) IsAlive(_ grid.Time, id grid.NodeID) bool { return w.alive[id] }
func (w *world) Room(id grid.NodeID) uint32               { w.looks++; return w.room[id] }
func (w *world) Probe(_ grid.Time, id grid.NodeID, _ time.Duration, _ *grid.Effects) {
	w.probed = append(w.probed, id)
}

func node(k byte) grid.NodeID { return grid.NodeID{k} }

func jobID(i int) grid.JobID { return grid.JobID{Nonce: [10]byte{byte(i), byte(i >> 8)}} }

// connect connects nodes without labels.
func (w *world) connect(nodes ...byte) {
	for _, k := range nodes {
		w.ads = append(w.ads, &grid.Ad{Node: node(k)})
	}
}

// submit submits the i-th job of a task.
func (w *world) submit(i int) { w.submitAs(i, grid.JobSpec{Count: 1}) }

func (w *world) submitAs(i int, spec grid.JobSpec) {
	w.done(w.Submit(w.now, jobID(i), &spec, uint64(i)+1, &w.fx))
}

// answer has a node answer a keepalive.
func (w *world) answer(k byte) {
	revived := !w.alive[node(k)]
	w.alive[node(k)] = true
	w.done(w.Answered(w.now, node(k), revived, &w.fx))
}

func (w *world) done(chosen []Job) {
	w.chosen = append(w.chosen, chosen...)
	w.SetTimer(w.now, &w.fx)
}

// pass lets a while pass and fires the timers that end in it.
func (w *world) pass(d time.Duration) {
	end := w.now.Add(d)
	for len(w.fx.Wakes) > 0 && w.fx.Wakes[0].At <= end {
		w.now = w.fx.Wakes[0].At
		w.fx.Wakes = w.fx.Wakes[1:]
		w.done(w.Wake(w.now, &w.fx))
	}
	w.now = end
}

// members returns how many members the i-th job has; 0 = they are not chosen.
func (w *world) members(i int) int {
	for _, job := range w.chosen {
		if job.ID == jobID(i) {
			return 1 + len(job.Others)
		}
	}
	return 0
}

// isEmpty checks that nothing is left of the submissions, at the latest after the next timer.
func (w *world) isEmpty(t *testing.T) {
	t.Helper()
	w.pass(probeRetry)
	if len(w.fx.Wakes) > 0 {
		t.Errorf("timers %v: want none", w.fx.Wakes)
	}
	if w.lists == nil {
		return
	}
	if w.isPending() || w.by.Len() > 0 || w.awaited != nil {
		t.Errorf("pending %v, %d in the table, awaited %v: want nothing", w.pending(), w.by.Len(), w.awaited)
	}
	for _, q := range w.queues {
		if q.waiting != nil || q.unprobed != nil || q.done != 0 {
			t.Errorf("queue %+v: want an empty one", q)
		}
	}
}
