package node

import (
	"testing"
	"time"

	"skep/grid"
)

// stragglerRig has a node that has run the class, a second each, and keeps ending one each second here, while a peer
// has a task that it keeps alive and does not end.
type stragglerRig struct {
	*rig
	attempt grid.AttemptID
	began   grid.Time
	jobs    byte
	dropt   bool
	offers  int // offers to the peer since
	runs    []grid.AttemptID
}

func newStragglerRig(t *testing.T, change func(*grid.JobSpec)) *stragglerRig {
	g := &stragglerRig{rig: newRig(t, nil), jobs: 100}
	for range 4 {
		g.work()
		g.second()
	}
	g.join(fastID, 1, "bsd")
	g.work()
	g.work() // this node is busy
	g.submit(jobID(1), spec(change))
	got := g.promises(fastID, 0)
	if len(got) != 1 {
		t.Fatalf("%d offers to the peer, want 1", len(got))
	}
	g.attempt, g.began = got[0], g.now
	return g
}

// work submits another task of the class that runs here.
func (g *stragglerRig) work() {
	g.jobs++
	g.step(grid.Event{Kind: grid.EvSubmit, Caller: 9, Job: jobID(g.jobs),
		Spec: spec(func(s *grid.JobSpec) { s.Policy = "local" })})
	g.observe()
}

// observe records what starts here and what is sent to the peer.
func (g *stragglerRig) observe() {
	for _, s := range g.fx.Starts {
		g.runs = append(g.runs, s.Attempt)
	}
	for _, m := range g.fx.Sends {
		if m.To == fastID && m.Msg.Kind == grid.KindOffer {
			g.offers++
		}
		if m.To == fastID && m.Msg.Kind == grid.KindDrop && m.Msg.Attempts[0] == g.attempt {
			g.dropt = true
		}
	}
}

// second passes one second, in which a task ends here.
func (g *stragglerRig) second() {
	g.now = g.now.Add(time.Second)
	if len(g.runs) > 0 {
		id := g.runs[0]
		g.runs = g.runs[1:]
		g.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: time.Second}})
		g.observe()
	}
}

// wait lets time pass with beats of the peer, and with or without ends of other tasks, until the attempt is reclaimed;
// it returns how long that took.
func (g *stragglerRig) wait(most time.Duration, others bool) time.Duration {
	for g.now.Sub(g.began) < most && !g.dropt {
		if others {
			g.work()
			g.second()
		} else {
			g.now = g.now.Add(time.Second)
		}
		g.deliverFor(fastID, grid.KindBeat, g.attempt, nil)
		g.step(grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerLease, Key: g.handle()}})
		g.observe()
	}
	return g.now.Sub(g.began)
}

func (g *stragglerRig) handle() uint64 {
	if l := g.leases(); len(l) > 0 {
		return l[0].Key
	}
	return 0
}

// A straggler is reclaimed; its node gets nothing for a while, and then one task as a probe.
func TestStragglerIsReclaimed(t *testing.T) {
	g := newStragglerRig(t, nil)
	took := g.wait(5*time.Minute, true)
	if took < 30*time.Second || took > time.Minute {
		t.Fatalf("it is reclaimed after %v, want after half a minute", took)
	}
	if v, _ := g.n.Task(grid.TaskID{Job: jobID(1)}); v.Lost != 0 || v.ID.N == g.attempt.N && v.State == grid.Placed &&
		v.Worker == fastID {
		t.Errorf("the task is %+v: want it placed again, and no loss counted", v)
	}
	s := g.n.peers.Record(fastID)
	if !s.BackingOff(g.now) || !s.BackingOff(g.now.Add(time.Minute)) {
		t.Error("the node may be given more at once")
	}
	after := g.now.Add(3 * time.Minute)
	if s.BackingOff(after) || s.OnProbation(after, grid.CPU) {
		t.Error("the node is never probed again")
	}
	probe := grid.Expectation{Made: after}
	if s.Given(after, &probe, 0, 0); !s.OnProbation(after, grid.CPU) {
		t.Error("two attempts probe it at once")
	}
	if g.n.peers.Returned(after, &probe, fastID, true); s.OnProbation(after, grid.CPU) {
		t.Error("it delivered and gets nothing more")
	}
}

// Long tasks are legitimate: more time is allowed where hardly anything else ends, where the node has recently kept its
// promises, and where run times of the class vary.
func TestLongTasksAreGivenTime(t *testing.T) {
	const unknownFactor, trustedFactor = 4, 16
	quiet := newStragglerRig(t, nil).wait(10*time.Minute, false)
	if quiet < unknownFactor*30*time.Second || quiet > unknownFactor*time.Minute {
		t.Errorf("where nothing else ends it is reclaimed after %v, want %d times as long", quiet, unknownFactor)
	}
	g := newStragglerRig(t, nil)
	g.trust(fastID)
	if took := g.wait(20*time.Minute, true); took < trustedFactor*30*time.Second || took > trustedFactor*time.Minute {
		t.Errorf("from a reliable node it is reclaimed after %v, want %d times as long", took, trustedFactor)
	}
	g = newStragglerRig(t, nil)
	class := grid.ClassOf(g.spec(jobID(1)))
	for range 200 {
		g.n.rates.Ended(class, 1e-9)
	}
	for g.n.peers.Expected(class) < 1 { // each result is far above the mean
		g.n.rates.Ended(class, 5*g.n.peers.Expected(class))
	}
	if took := g.wait(20*time.Minute, true); took < 40*time.Second {
		t.Errorf("though the class varies it is reclaimed after %v", took)
	}
}

// A task with a time limit may take that; one without retries is never reclaimed.
func TestTimeLimitAndAtMostOnceAreRespected(t *testing.T) {
	g := newStragglerRig(t, func(s *grid.JobSpec) { s.Timeout = 10 * time.Minute })
	if took := g.wait(20*time.Minute, true); took < 10*time.Minute || took > 11*time.Minute {
		t.Errorf("with a limit of ten minutes it is reclaimed after %v", took)
	}
	g = newStragglerRig(t, func(s *grid.JobSpec) { s.Retries = 0 })
	if g.wait(20*time.Minute, true); g.dropt {
		t.Error("a task that is to run at most once was reclaimed")
	}
}

// A peer's claimed arrivals weigh as far as it could run them itself, or gives this node a share of them too.
func TestClaimedArrivalsAreBounded(t *testing.T) {
	r, p := withRecorder(t, nil)
	r.join(fastID, 1, "linux")
	claim := func(alpha float64) float64 {
		r.now = r.now.Add(time.Second)
		mine := uint64(r.now)
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "x", Needs: oneCore, Speed: 1, Cores: grid.CPU, Mine: mine,
				Rates: []grid.Rate{{Class: "x", Alpha: alpha, Mu: 2}}}
		})
		r.submit(jobID(1), spec(nil)) // it has the policies told of every column
		r.n.peers.UpdateColumns(r.now)
		return p.alpha[fastID]
	}
	for alpha, want := range map[float64]float64{1: 1, 2: 2, 100: 2, 1e9: 2} {
		if got := claim(alpha); got < 0.999*want || got > 1.001*want {
			t.Errorf("of %g tasks of half a second a second %g are believed of a node of one core, want %g", alpha, got, want)
		}
	}
	for i := range 60 {
		o := grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{byte(i)}}},
			Attempt: grid.Attempt{Epoch: 1, N: 1}},
			Spec: spec(nil), Class: "x", Lease: time.Minute}
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) { m.Offer = o })
	}
	if got := claim(100); got < 0.8 || got < 2 {
		t.Errorf("it gives this node a task each second, and %g are believed", got)
	}
	if got := claim(1e9); got > 10 {
		t.Errorf("it gives this node a task each second, and of what it claims %g are believed", got)
	}
}
