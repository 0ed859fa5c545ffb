package profile

import (
	"slices"
	"testing"
	"time"

	"skep/gossip"
	"skep/grid"
)

// node is a profile with the gossip that it reads, and time to pass.
type node struct {
	t *testing.T
	Profile
	gossip *gossip.Gossip
	now    grid.Time
	fx     grid.Effects
	load   Load
}

// newNode returns a node that has not said anything yet.
func newNode(t *testing.T, labels ...grid.Label) *node {
	t.Helper()
	cfg := gossip.Defaults()
	g := new(gossip.New(grid.NodeID{1}, &cfg, grid.NewRand(7, 2)))
	full := grid.Resources{CPU: 4 * grid.CPU, Memory: grid.GiB}
	p := New(Config{Self: grid.NodeID{1}, Boot: 3, Name: "self", Capacity: full, Speed: 2, Engines: []string{"wasm"},
		Prior: 1, Rand: grid.NewRand(7, 1),
		Gossip: g}, labels)
	l := Load{Free: full, Rates: []grid.Rate{{Class: "a", Alpha: 1, Mu: 2}}}
	return &node{t: t, gossip: g, now: 1e9, load: l, Profile: p}
}

// started returns a node that has made its first ad.
func started(t *testing.T, labels ...grid.Label) *node {
	n := newNode(t, labels...)
	n.gossip.Start(n.now, n.Next(n.load), &n.fx)
	n.fx.Reset()
	return n
}

// wakes returns the times at which a new ad is due, by the calls since the last wakes.
func (n *node) wakes() (at []grid.Time) {
	for _, w := range n.fx.Wakes {
		if w.Timer.Kind == grid.TimerAd {
			at = append(at, w.At)
		}
	}
	n.fx.Reset()
	return at
}

// advertise lets the timer fire and reports whether there was an ad.
func (n *node) advertise() bool {
	ad := n.Wake(n.now, n.load)
	if ad != nil {
		n.gossip.Advertise(n.now, ad, &n.fx)
	}
	return ad != nil
}

func TestChangesWithinASecondAreToldTogether(t *testing.T) {
	n := started(t)
	n.now = n.now.Add(time.Minute)
	first := n.now
	n.SetLowDisk(n.now, true, &n.fx)
	n.SetAddrs(n.now, []string{"/ip4/192.0.2.1"}, &n.fx)
	n.Changed(n.now, &n.fx)
	if at := n.wakes(); !slices.Equal(at, []grid.Time{first}) {
		t.Fatalf("three changes: an ad is due at %v, want one at once, %v", at, first)
	}
	if !n.advertise() || !n.gossip.Ad().Full || len(n.gossip.Ad().Addrs) != 1 {
		t.Fatalf("the ad is %+v, want one with both changes", n.gossip.Ad())
	}
	n.wakes()
	n.now = n.now.Add(100 * time.Millisecond)
	n.SetAvailability(n.now, 0.5, 1, &n.fx)
	n.now = n.now.Add(100 * time.Millisecond)
	n.Changed(n.now, &n.fx)
	if at := n.wakes(); !slices.Equal(at, []grid.Time{first.Add(adGap)}) {
		t.Errorf("two changes after an ad of %v: the next is due at %v, want once, a second after the last", first, at)
	}
}

func TestAnAdForAnotherReasonDelaysTheNext(t *testing.T) {
	n := started(t)
	n.now = n.now.Add(time.Minute)
	n.Space(n.now)
	n.Changed(n.now, &n.fx)
	if at := n.wakes(); !slices.Equal(at, []grid.Time{n.now.Add(adGap)}) {
		t.Errorf("due at %v, want a second after %v", at, n.now)
	}
}

func TestNothingIsDueBeforeTheFirstAd(t *testing.T) {
	n := newNode(t)
	n.SetLowDisk(n.now, true, &n.fx)
	if at := n.wakes(); len(at) > 0 {
		t.Errorf("an ad is due at %v before the node started", at)
	}
	if n.gossip.Start(n.now, n.Next(n.load), &n.fx); !n.gossip.Ad().Full {
		t.Error("the first ad leaves out what was known before")
	}
}

// What gossip's rule would not send is not made into an ad: its sequence stays, and the small changes add up.
func TestSmallChangesMakeNoAd(t *testing.T) {
	n := started(t)
	before := n.gossip.Ad()
	n.now = n.now.Add(time.Minute)
	if n.advertise() {
		t.Error("an ad without a change")
	}
	sent := 0
	for range 10 {
		n.load.Free.CPU -= grid.CPU / 10
		if n.advertise() {
			sent++
		}
	}
	if sent == 0 || sent == 10 {
		t.Errorf("%d ads for ten changes of a fortieth of the node, want some", sent)
	}
	if now := n.gossip.Ad(); now.Seq.N != before.Seq.N+uint64(sent) {
		t.Errorf("%d ads, sequence from %v to %v", sent, before.Seq, now.Seq)
	}
}

func TestDescribeIsTheNextAdAndChangesNothing(t *testing.T) {
	n := started(t, grid.Label{Key: "os", Value: "linux"})
	n.load.Backlog, n.load.Draining = time.Second, true
	ad := n.Describe(n.load)
	if again := n.Describe(n.load); again.Seq != ad.Seq || ad.Seq != n.gossip.Ad().Seq {
		t.Errorf("sequence %v, then %v, want that of the last ad", ad.Seq, again.Seq)
	}
	if ad.Node != (grid.NodeID{1}) || ad.Seq.Boot != 3 || ad.Name != "self" || ad.Speed != 2 || ad.Availability != 1 ||
		ad.Engines[0] != "wasm" || ad.Labels[0].Value != "linux" ||
		ad.Backlog != time.Second || ad.Free != n.load.Free || !ad.Draining || ad.Leaving {
		t.Errorf("the node is described as %+v", ad)
	}
	if last := n.Last(n.load); !last.Leaving || !ad.Seq.Less(last.Seq) {
		t.Errorf("its last ad is %+v, want one that says so, after %v", last, ad.Seq)
	}
}

// The caller reuses the memory of the rates it publishes, ads are immutable: an ad has a copy, or the last one's.
func TestAdsShareEqualRates(t *testing.T) {
	n := started(t)
	first := n.gossip.Ad()
	if &first.Rates[0] == &n.load.Rates[0] {
		t.Fatal("the ad aliases the caller's rates")
	}
	if ad := n.Next(n.load); &ad.Rates[0] != &first.Rates[0] {
		t.Error("equal rates were copied")
	}
	n.load.Rates[0].Mu = 3
	if ad := n.Next(n.load); ad.Rates[0].Mu != 3 || first.Rates[0].Mu != 2 {
		t.Errorf("rates %v, the first ad's %v: want 3 and 2", ad.Rates, first.Rates)
	}
}
