package survey

import (
	"slices"
	"testing"
	"time"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/exclusion"
)

// peers are nodes by their number: below 10 they are connected, and odd ones hide jobs.
type peers struct{ dialled []byte }

func (*peers) Connected(id grid.NodeID) bool { return id[0] < 10 }
func (*peers) HidesJobs(id grid.NodeID) bool { return id[0]%2 == 1 }
func (*peers) TakesWork(id grid.NodeID) bool { return id[0] != 9 }

func (p *peers) Dial(_ grid.Time, id grid.NodeID, _ *grid.Effects) {
	p.dialled = append(p.dialled, id[0])
}

// node is a known node that fits a need, heard of at 100 s.
func node(n byte, change ...func(*grid.Ad)) *gossip.Peer {
	ad := &grid.Ad{Node: grid.NodeID{n}, Engines: []string{"process"}, Capacity: grid.Resources{CPU: 1000}}
	for _, f := range change {
		f(ad)
	}
	return &gossip.Peer{Ad: ad, Heard: 100 * grid.Time(time.Second)}
}

func drains(ad *grid.Ad) { ad.Draining = true }
func small(ad *grid.Ad)  { ad.Capacity.CPU = 1 }

func spec() *grid.JobSpec {
	s := &grid.JobSpec{Engine: "process"}
	s.Needs.CPU = 500
	return s
}

func TestWhyNoNodeTakesATask(t *testing.T) {
	for name, c := range map[string]struct {
		known   []*gossip.Peer
		private bool
		busy    grid.Why
		detail  bool
		dialled []byte
		exposes int
	}{
		"none fits":   {known: []*gossip.Peer{node(1, small), node(11, small), {}}},
		"one is away": {known: []*gossip.Peer{node(11)}, dialled: []byte{11}},
		"one drains":  {known: []*gossip.Peer{node(1, drains)}, busy: grid.WhyDrain, detail: true},
		"one drains, another is away": {known: []*gossip.Peer{node(1, drains), node(12)}, busy: grid.WhyDrain,
			dialled: []byte{12}},
		"one that drained has just left": {known: []*gossip.Peer{node(11, drains)}, busy: grid.WhyDrain, detail: true},
		"one would show the job": {known: []*gossip.Peer{node(2), node(1, drains)}, private: true, busy: grid.WhyDrain,
			detail: true, exposes: 1},
		"one would show a job that is no secret": {known: []*gossip.Peer{node(2)}},
	} {
		s, p := spec(), &peers{}
		if c.private {
			s.Capability[0] = 1
		}
		x := Survey{Peers: p, Known: c.known, Expire: time.Minute}
		f := x.Look(101*grid.Time(time.Second), s, new(exclusion.Set), grid.Refusal{}, nil)
		if f.Busy.Why != c.busy || (f.Busy.Detail != "") != c.detail || f.Dialled != (len(c.dialled) > 0) ||
			!slices.Equal(p.dialled, c.dialled) || len(f.Exposes) != c.exposes {
			t.Errorf("%s: %+v, dialled %v", name, f, p.dialled)
		}
	}
}

// A node that left long ago is not expected back; what this node says stands if no other one fits.
func TestAnOldRefusalDoesNotCount(t *testing.T) {
	x := Survey{Peers: new(peers), Known: []*gossip.Peer{node(11, drains)}, Expire: time.Minute}
	own := grid.Refusal{Why: grid.WhyQueue}
	if f := x.Look(200*grid.Time(time.Second), spec(), new(exclusion.Set), own, nil); f.Busy != own || !f.Dialled {
		t.Errorf("%+v, want what this node says, and that the other is dialled", f)
	}
}

func TestEachKnownNodeHasAReason(t *testing.T) {
	tried := new(exclusion.Set)
	tried.Exclude(grid.NodeID{3}, grid.Refusal{Why: grid.WhyQueue, Detail: "full"}, grid.Never)
	named := node(1, small)
	named.Ad.Name = "one"
	x := Survey{Peers: new(peers), Known: []*gossip.Peer{named, {}, node(3), node(4)}}
	got := x.Reasons(spec(), tried, node(7, small).Ad)
	few := discovery.Match(&spec().Needs, "process", named.Ad)
	lacks := few.Why.String() + " (" + few.Detail + "); "
	want := "this node " + lacks + "one " + lacks +
		grid.NodeID{3}.Short() + " " + grid.WhyQueue.String() + " (full); " + grid.NodeID{4}.Short() + " " +
		grid.WhyGone.String()
	if got != want {
		t.Errorf("reasons:\n%s\nwant\n%s", got, want)
	}
}

func TestFoundNodesAreReadyOrNot(t *testing.T) {
	for _, c := range []struct {
		id    byte
		g     *gossip.Peer
		ready bool
	}{{1, node(1), true}, {1, nil, false}, {1, &gossip.Peer{}, false}, {1, node(1, small), false}, {11, node(11), false},
		{9, node(9), false}} {
		if why := NotReady(grid.NodeID{c.id}, spec(), c.g, new(peers)); (why == "") != c.ready {
			t.Errorf("node %d: %q, want ready %v", c.id, why, c.ready)
		}
	}
	if a, b := Method(&discovery.Found{Called: true}, "x"), Method(&discovery.Found{Hops: 2}, "x"); a != "by a call" ||
		b != "hops: 2, by x" {
		t.Errorf("found %q and %q", a, b)
	}
}
