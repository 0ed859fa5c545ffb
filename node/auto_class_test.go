package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/profile"
)

// A node labelled class=auto serves the class that has too few nodes for its load, says so in its ad, and changes class
// when the load has moved, but not within five minutes.
func TestClassAutoFollowsTheLoad(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Labels = []grid.Label{{Key: profile.LabelClass, Value: profile.ClassAuto}, {Key: profile.LabelCluster, Value: "x"},
			{Key: "os", Value: "linux"}}
	})
	class := func() string {
		c, _ := r.n.gossip.Ad().Label(profile.LabelClass)
		return c
	}
	seq := uint64(1)
	tell := func(small, large float64) { // tasks per second, of one second each
		seq++
		for _, who := range []struct {
			id   grid.NodeID
			kept string
		}{{fastID, "small"}, {slowID, "large"}} {
			ad := &grid.Ad{Node: who.id, Seq: grid.Seq{Boot: 1, N: seq}, Name: "peer", Speed: 1, Availability: 1,
				Capacity: grid.Resources{CPU: grid.CPU}, Engines: []string{grid.EngineProcess},
				Labels: []grid.Label{{Key: profile.LabelClass, Value: who.kept}},
				Rates:  []grid.Rate{{Class: "large", Alpha: large / 2, Mu: 1}, {Class: "small", Alpha: small / 2, Mu: 1}}}
			r.deliver(who.id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
		}
	}
	run := func(d time.Duration) {
		for end := r.now.Add(d); r.now < end; {
			r.pass(end.Sub(r.now))
		}
	}
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	if c := class(); c != "" {
		t.Errorf("serves %q at first, want every class", c)
	}
	tell(0.2, 0.9)
	run(time.Minute)
	if c := class(); c != "large" || r.n.profile.Site().Class != "large" || r.n.profile.Site().Cluster != "x" {
		t.Fatalf("serves %q (%+v), want large: 0.9 tasks wait for one node", c, r.n.profile.Site())
	}
	tell(1.9, 0.2)
	run(3 * time.Minute)
	if c := class(); c != "large" {
		t.Errorf("serves %q after four minutes, want five with a class", c)
	}
	for range 8 { // each of the two nodes of the class changes with probability 1/2
		tell(1.9, 0.2)
		run(time.Minute)
	}
	if c := class(); c != "small" {
		t.Errorf("serves %q, want small by now", c)
	}
	if got := r.n.gossip.Ad().Labels; len(got) != 3 || got[0].Key != profile.LabelClass || got[2].Key != "os" {
		t.Errorf("labels %v, want all three in order", got)
	}
}
