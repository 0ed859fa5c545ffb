package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// probe is a member that records the events it gets and does what a test wants.
type probe struct {
	observed []observed
	do       func(now grid.Time, ev *grid.Event, fx *grid.Effects)
}

type observed struct {
	now  grid.Time
	kind grid.EventKind
	peer grid.NodeID
	id   uint64
}

func (p *probe) Restore(*grid.Record) {}
func (p *probe) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	h := observed{now: now, kind: ev.Kind, peer: ev.Peer}
	if ev.Msg != nil {
		h.id = ev.Msg.Poll.ID
	}
	p.observed = append(p.observed, h)
	if p.do != nil {
		p.do(now, ev, fx)
	}
}
func (p *probe) Jobs(dst []node.JobView) []node.JobView { return dst }
func (p *probe) Stats(grid.Time) node.Stats             { return node.Stats{} }

func (p *probe) count(k grid.EventKind) int {
	n := 0
	for _, h := range p.observed {
		if h.kind == k {
			n++
		}
	}
	return n
}

// probes makes a world of probes; a restarted node is a new probe.
func probes(t *testing.T, c Config) (*World, []*probe) {
	t.Helper()
	all := make([]*probe, c.Nodes)
	c.Seed = 1
	c.Make = func(cfg node.Config, _ grid.Wall) (Member, error) {
		i := get32(cfg.Self[:])
		all[i] = &probe{}
		return all[i], nil
	}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w, all
}

func runUntil(t *testing.T, w *World, d time.Duration) {
	t.Helper()
	if err := w.RunUntil(d); err != nil {
		t.Fatal(err)
	}
}

// sendPolls lets node i send n polls to j now.
func sendPolls(w *World, i, j, n int) {
	var m grid.Message
	for k := range n {
		m.Reset(grid.KindPoll)
		m.Poll.ID = uint64(k) + 1
		w.send(int32(i), w.hosts[j].id, &m)
	}
}

func (p *probe) ids() []uint64 {
	var ids []uint64
	for _, h := range p.observed {
		if h.kind == grid.EvMessage {
			ids = append(ids, h.id)
		}
	}
	return ids
}

func TestMessagesKeepTheirOrderUnlessReordered(t *testing.T) {
	for _, reorder := range []float64{0, 0.5} {
		w, all := probes(t, Config{Nodes: 2, Network: Network{Latency: Uniform(time.Millisecond, 50*time.Millisecond),
			Reorder: reorder}})
		runUntil(t, w, time.Second)
		sendPolls(w, 0, 1, 200)
		runUntil(t, w, 2*time.Second)
		ids, swaps := all[1].ids(), 0
		for k := 1; k < len(ids); k++ {
			if ids[k] < ids[k-1] {
				swaps++
			}
		}
		if len(ids) != 200 || (swaps > 0) != (reorder > 0) {
			t.Errorf("reorder %g: %d of 200 messages came, %d overtaken", reorder, len(ids), swaps)
		}
	}
}

func TestLossAndDuplication(t *testing.T) {
	w, all := probes(t, Config{Nodes: 2, Network: Network{Loss: 0.2, Duplicate: 0.5}})
	runUntil(t, w, time.Second)
	sendPolls(w, 0, 1, 10_000)
	runUntil(t, w, 2*time.Second)
	if n := len(all[1].ids()); n < 11_700 || n > 12_300 {
		t.Errorf("%d of 10,000 messages came, want about 12,000: one in two twice, one in five not", n)
	}
}

func TestCrashIsDetectedLateAndQuickRestartMaybeNot(t *testing.T) {
	w, all := probes(t, Config{Nodes: 2, Network: Network{Detect: 3 * time.Second},
		Faults: []Fault{{At: 5 * time.Second, Kind: Crash, Nodes: []int{1}},
			{At: 20 * time.Second, Kind: Restart, Nodes: []int{1}},
			{At: 30 * time.Second, Kind: Crash, Nodes: []int{0}}, {At: 30*time.Second + 100*time.Millisecond, Kind: Restart,
				Nodes: []int{0}}}})
	first := all
	runUntil(t, w, 7900*time.Millisecond)
	if n := all[0].count(grid.EvPeerDown); n != 0 {
		t.Fatal("the crash is noticed before its time")
	}
	runUntil(t, w, 8100*time.Millisecond)
	if n := all[0].count(grid.EvPeerDown); n != 1 {
		t.Fatalf("the crash is noticed %d times", n)
	}
	runUntil(t, w, 29*time.Second)
	if all[0].count(grid.EvPeerUp) != 2 || first[1].count(grid.EvPeerUp) != 1 {
		t.Error("the restarted node is not connected again")
	}
	runUntil(t, w, 60*time.Second)
	if all[1].count(grid.EvPeerDown) > 1 || all[0].count(grid.EvPeerUp) != 1 {
		t.Errorf("after a quick restart: %d downs, %d ups", all[1].count(grid.EvPeerDown), all[0].count(grid.EvPeerUp))
	}
}

func TestOneWayCut(t *testing.T) {
	w, all := probes(t, Config{Nodes: 2, Network: Network{Timeout: 10 * time.Second},
		Faults: []Fault{{At: 2 * time.Second, Kind: CutOut, Nodes: []int{0}}, {At: time.Minute, Kind: Heal}}})
	runUntil(t, w, 3*time.Second)
	sendPolls(w, 0, 1, 5)
	sendPolls(w, 1, 0, 5)
	runUntil(t, w, 4*time.Second)
	if len(all[1].ids()) != 0 || len(all[0].ids()) != 5 {
		t.Errorf("%d messages out of the cut, %d into it, want 0 and 5", len(all[1].ids()), len(all[0].ids()))
	}
	runUntil(t, w, 30*time.Second)
	if all[0].count(grid.EvPeerDown) != 1 || all[1].count(grid.EvPeerDown) != 1 {
		t.Error("the cut connection does not time out on both sides")
	}
	runUntil(t, w, 3*time.Minute)
	if all[0].count(grid.EvPeerUp) != 2 || all[1].count(grid.EvPeerUp) != 2 {
		t.Error("the healed connection does not come back")
	}
}

func TestAnnouncementReachesAllOnce(t *testing.T) {
	w, all := probes(t, Config{Nodes: 40, Network: Network{Latency: Uniform(time.Millisecond, 9*time.Millisecond)}})
	runUntil(t, w, 10*time.Second)
	var m grid.Message
	m.Reset(grid.KindCall)
	w.announce(7, &m)
	runUntil(t, w, 11*time.Second)
	for i, p := range all {
		if n := p.count(grid.EvAnnounce); i != 7 && n != 1 || i == 7 && n != 0 {
			t.Errorf("n%d heard it %d times", i, n)
		}
	}
}

func TestUnwantedIdleConnectionCloses(t *testing.T) {
	w, all := probes(t, Config{Nodes: 9, Network: Network{Join: 1, Idle: time.Minute}})
	runUntil(t, w, time.Second)
	i := 0
	for _, l := range w.hosts[8].links {
		if l.peer == int32(i) {
			i++
		}
	}
	before := all[i].count(grid.EvPeerUp)
	sendPolls(w, 8, i, 1)
	runUntil(t, w, 30*time.Second)
	if all[i].count(grid.EvPeerUp) != before+1 || len(all[i].ids()) != 1 {
		t.Fatal("a message to a stranger does not make a connection and arrive")
	}
	runUntil(t, w, 5*time.Minute)
	if all[i].count(grid.EvPeerDown) != 1 {
		t.Errorf("the connection ended %d times", all[i].count(grid.EvPeerDown))
	}
}

// Records that are not on disk when a node dies are lost, and none of their effects was visible.
func TestDurableBeforeVisible(t *testing.T) {
	lost, kept := 0, 0
	for seed := uint64(1); seed <= 20; seed++ {
		var members []*toy
		c := Config{Seed: seed, Nodes: 1, Disk: Disk{Sync: 10 * time.Millisecond},
			Work: []Submission{{At: time.Second, Node: 0, Spec: spec("a", 1, grid.CPU)}},
			Faults: []Fault{{At: time.Second + 5*time.Millisecond, Kind: Crash, Nodes: []int{0}},
				{At: 2 * time.Second, Kind: Restart, Nodes: []int{0}}}}
		c.Make = func(cfg node.Config, wall grid.Wall) (Member, error) {
			m, err := makeToy("")(cfg, wall)
			members = append(members, m.(*toy))
			return m, err
		}
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		runUntil(t, w, 1500*time.Millisecond)
		if w.books.Job(0).Confirmed {
			t.Fatal("the client was answered before the job was on disk")
		}
		if w.books.Job(0).Saved {
			kept++
		} else {
			lost++
		}
		runUntil(t, w, 3*time.Second)
		if len(members) != 2 || len(members[1].jobs) != 1 || !w.books.Job(0).Confirmed {
			t.Fatalf("seed %d: the client did not submit again to the restarted node", seed)
		}
	}
	if lost == 0 || kept == 0 {
		t.Errorf("commits under way at a crash: %d lost, %d kept, want some of both", lost, kept)
	}
}

// A drifting clock shows the expected time, wakes come at their time, and a change of drift does not set the clock.
func TestClocksDrift(t *testing.T) {
	c := Config{Seed: 1, Nodes: 2, Make: makeToy(""),
		Faults: []Fault{{At: time.Hour, Kind: Drift, Nodes: []int{1}, Factor: -5000}}}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	runUntil(t, w, time.Second)
	first := [2]grid.Time{w.Local(0), w.Local(1)}
	w.setDrift(0, 10_000)
	runUntil(t, w, 101*time.Second)
	if d := w.Local(0) - first[0]; d != grid.Time(101*time.Second) {
		t.Errorf("a clock that is 1 %% fast shows %v after 100s", time.Duration(d))
	}
	if d := w.Local(1) - first[1]; d != grid.Time(100*time.Second) {
		t.Errorf("a good clock shows %v after 100s", time.Duration(d))
	}
	before := w.Local(0)
	w.setDrift(0, -10_000)
	if w.Local(0) != before {
		t.Error("a change of pace sets the clock")
	}
	for _, ahead := range []grid.Time{1, 999, grid.Time(time.Second), grid.Time(time.Hour)} {
		at := w.hosts[0].worldTime(before + ahead)
		w.now = at
		if shown := w.Local(0); shown < before+ahead || shown > before+ahead+1 {
			t.Errorf("when %d have to pass, %d do", ahead, shown-before)
		}
	}
}
