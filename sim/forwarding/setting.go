package forwarding

import (
	"errors"
	"fmt"
	"time"

	"skep/discovery"
)

// Setting is one world and what is asked in it.
type Setting struct {
	Nodes  int
	Degree float64 // mean number of neighbours; 2 of them are the ring's; default 8
	Seed   uint64

	// Types of resources; each node has Each of them on average, default 5, at least one.
	Types int
	Each  float64

	// Rich puts nine tenths of what is beyond one for each node on one tenth of the nodes; else all is even [1].
	Rich bool

	// Rare, if more than 0, has that many nodes hold each type, whatever Each and Rich say: for requests that hardly
	// anybody can meet.
	Rare int

	// Zipf makes the k-th type be asked for in proportion to 1/k; else all are alike.
	Zipf bool

	// Requests are asked one after the other by random nodes without the type, Rate a second by each node in the mean;
	// default 1. With Once no type is asked for twice: there must be as many types.
	Requests int
	Rate     float64
	Once     bool

	// View is how many nodes, those nearest to a holder by hops, know it by its ad; 0 = none.
	View int

	// Calls lets announcements reach everybody, from node to node over all links; else they are lost.
	Calls bool

	// Discovery is that of every node.
	Discovery discovery.Config
}

// Defaults returns the setting of the published comparison as far as it is told: 500 nodes of about 8 neighbours, 250
// types, 5 resources for each node, walks of at most 50 hops, one for each request. The strategy is as in the
// source: no load term, nothing by chance, no ads, no calls.
func Defaults() Setting {
	c := discovery.Defaults()
	c.Hops, c.Retries, c.Walkers, c.Deadline = 50, 0, 1, 10*time.Second
	c.Explore, c.Load, c.BestShare, c.Ads = 0, 0, 1, false
	c.CallHold, c.CallDelay, c.CallWait = 0, 0, time.Millisecond
	c.SeenMax, c.Rate, c.Burst = 256, 1e6, 1e6 // bounds on peers that do harm are not what is measured
	return Setting{Nodes: 500, Degree: 8, Types: 250, Each: 5, Requests: 60_000, Rate: 1, Discovery: c}
}

// Check reports all that is wrong with a setting.
func (s *Setting) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("forwarding: "+format, args...))
		}
	}
	want(s.Nodes >= 3 && s.Nodes <= 1<<20, "nodes %d: want 3 to %d", s.Nodes, 1<<20)
	want(s.Degree >= 2 && s.Degree < float64(s.Nodes), "degree %g: want 2 or more, less than the nodes", s.Degree)
	want(s.Types >= 1 && s.Types <= 1<<16, "types %d: want 1 to %d", s.Types, 1<<16)
	want(s.Rare > 0 || s.Each >= 1 && s.Each <= float64(s.Types), "resources for each node %g: want 1 to the types, %d",
		s.Each, s.Types)
	want(s.Rare >= 0 && s.Rare < s.Nodes, "rare %d: want 0 to less than the nodes", s.Rare)
	want(s.Requests >= 1, "requests %d: want 1 or more", s.Requests)
	want(!s.Once || s.Types >= s.Requests, "types %d: want as many as requests, %d, if each is asked for once", s.Types,
		s.Requests)
	want(s.Rate > 0, "rate %g: want more than 0 requests a second and node", s.Rate)
	want(s.View >= 0 && s.View <= s.Nodes, "view %d: want 0 to the nodes", s.View)
	return errors.Join(append(all, s.Discovery.Check())...)
}
