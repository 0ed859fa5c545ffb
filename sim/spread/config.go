package spread

import (
	"errors"
	"fmt"
	"math"
	"time"

	"skep/gossip"
	"skep/grid"
)

// Config is a run. The same Config gives the same Result.
type Config struct {
	Nodes   int // 3 to 1,000,000
	Degree  int // mean number of neighbours, 4 to 30, even
	Ring    bool
	Seed    uint64
	Gossip  gossip.Config
	Latency time.Duration // one way to a near neighbour; a plane of three times that lies beneath
	Phases  []Phase
	Warmup  time.Duration // what comes before is not measured
	Sample  time.Duration // how often views are compared with what is
	Lookers int           // how many nodes' views are; 0 = all
	Poll    time.Duration // mean time between two polls of a node, each of one that it knows; 0 = none

	// Sizes, if not nil, are the cores of the nodes, repeated; nil = 8.
	Sizes []int
}

// Phase is a time in which loads change in one way. Loads are kept from one to the next.
type Phase struct {
	Time       time.Duration
	Kind       Kind
	Every      time.Duration // between two changes of a node's load; for Walk exact, else the mean of an exponential
	Share      float64       // of the nodes whose loads change, for Walk that change much
	Sigma      float64       // of a step of a Walk, for those that change much
	SmallSigma float64       // for the others
}

// Kind is how loads change.
type Kind uint8

// Ways in which loads change.
const (
	Walk Kind = iota // at random, reflected at 0 and 1: each node in its turn
	Flap             // between nothing and all: short tasks
	Jump             // to any value: long tasks
)

// among reports whether a node is of the share, which is spread evenly over the nodes.
func (p *Phase) among(i int) bool {
	x := float64(i) * 0.6180339887498949
	return x-math.Floor(x) < p.Share
}

// check reports everything that is wrong.
func (c *Config) check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("spread: "+format, args...))
		}
	}
	want(c.Nodes >= 3 && c.Nodes <= 1_000_000, "nodes %d: want 3 to 1000000", c.Nodes)
	want(c.Degree >= 4 && c.Degree <= 30 && c.Degree%2 == 0, "degree %d: want an even number from 4 to 30", c.Degree)
	want(c.Latency > 0, "latency %v: want more than 0", c.Latency)
	want(len(c.Phases) > 0, "no phase: want one or more")
	for i, p := range c.Phases {
		want(p.Time > 0 && p.Every > 0, "phase %d of %v, a change every %v: want more than 0", i, p.Time, p.Every)
	}
	want(c.Sample > 0, "sample %v: want more than 0", c.Sample)
	return errors.Join(append(errs, c.Gossip.Check())...)
}

// id spreads the indices, so that the order of identities is not that of the overlay.
func id(i int) (n grid.NodeID) {
	x := (uint32(i) + 1) * 2654435761
	for k := range 4 {
		n[k], n[4+k] = byte(x>>(24-8*k)), byte(uint32(i)>>(24-8*k))
	}
	return n
}

func index(n grid.NodeID) int {
	return int(n[4])<<24 | int(n[5])<<16 | int(n[6])<<8 | int(n[7])
}

// still is the gossip of nodes whose overlay stays, with a refresh.
func still(rule string, refresh time.Duration) gossip.Config {
	g := gossip.Defaults()
	g.Rule, g.Neighbours = rule, most+1
	g.Refresh, g.Expire, g.Tmax = refresh, 6*refresh, 3*refresh
	g.Look, g.Forget = 1<<62, 1<<62
	return g
}
