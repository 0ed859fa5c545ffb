package testnet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// FaultKind is what is done to nodes.
type FaultKind string

// Kinds of faults.
const (
	FaultKill    FaultKind = "kill"    // kill -9, started again after a while; For 0: never
	FaultSilent  FaultKind = "silent"  // as a machine that loses its power: no connection is closed
	FaultRestart FaultKind = "restart" // SIGTERM, then started again
	FaultPause   FaultKind = "pause"
	FaultCut     FaultKind = "cut"     // the nodes on one side, all others on the other
	FaultRolling FaultKind = "rolling" // every node restarted, one after the other
	FaultJoin    FaultKind = "join"    // a new node starts
)

// Fault is something that is done to nodes at a moment, and for how long.
type Fault struct {
	At    time.Duration
	Kind  FaultKind
	Nodes []string
	For   time.Duration
}

// String prints a fault for people.
func (f Fault) String() string {
	s := fmt.Sprintf("%6.1f s  %-8s %s", f.At.Seconds(), f.Kind, strings.Join(f.Nodes, " "))
	switch {
	case f.For > 0:
		s += fmt.Sprintf(" for %.0f s", f.For.Seconds())
	case f.Kind == FaultKill:
		s += " for good"
	}
	return s
}

// rollingTime is how long a rolling restart is reckoned to take for each node; nothing else begins meanwhile.
const rollingTime = 2 * time.Second

// Schedule draws the faults of a run. The same arguments give the same faults. At most a third of the nodes are down,
// paused or cut off at a time, and there is one cut at a time.
func Schedule(nodes []string, c *ChaosConfig) []Fault {
	r := rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15))
	if c.Deaths > 0 {
		return successions(r, nodes, c)
	}
	kinds := []FaultKind{FaultKill, FaultKill, FaultKill, FaultKill, FaultRestart, FaultRestart, FaultPause, FaultPause}
	if !c.Processes {
		kinds = append(kinds, FaultSilent, FaultSilent, FaultSilent, FaultCut, FaultCut)
	}
	s := &drawing{busy: map[string]time.Duration{}, most: max(1, len(nodes)/3)}
	for at := c.Every; at < c.Duration; at += c.Every {
		if at < s.still {
			continue
		}
		kind := kinds[r.IntN(len(kinds))]
		if room := c.Duration - at; room > time.Duration(len(nodes))*rollingTime && r.IntN(16) == 0 && s.hurt(at) == 0 {
			s.still = at + time.Duration(len(nodes))*rollingTime
			s.faults = append(s.faults, Fault{At: at, Kind: FaultRolling, Nodes: slices.Clone(nodes)})
			continue
		}
		s.draw(r, nodes, at, kind, c)
	}
	return s.faults
}

// drawing is a schedule while it is drawn.
type drawing struct {
	faults []Fault
	busy   map[string]time.Duration // until when a node is being hurt
	still  time.Duration            // until when nothing else begins
	cut    time.Duration            // until when there is a cut
	gone   int                      // for good
	most   int
}

// hurt returns how many nodes are being hurt at a time.
func (s *drawing) hurt(at time.Duration) (n int) {
	for _, until := range s.busy {
		if until > at {
			n++
		}
	}
	return n
}

// settle is the time that a node has to itself after a fault.
const settle = 2 * time.Second

func (s *drawing) draw(r *rand.Rand, nodes []string, at time.Duration, kind FaultKind, c *ChaosConfig) {
	f := Fault{At: at, Kind: kind}
	count := 1
	switch kind {
	case FaultKill, FaultSilent:
		f.For = c.spell(r, 8, 16)
	case FaultRestart:
		f.For = 0
	case FaultPause:
		f.For = c.spell(r, 2, 12)
	case FaultCut:
		f.For = c.spell(r, 5, 15)
		count = 1 + r.IntN(s.most)
	}
	if kind == FaultKill && c.Origins && s.gone < c.gone(len(nodes)) && r.IntN(2) == 0 {
		f.For, s.gone = 0, s.gone+1
	}
	free := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return s.busy[n] > at })
	count = min(count, s.most-s.hurt(at), len(free))
	if count < 1 || kind == FaultCut && s.cut > at {
		return
	}
	r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	f.Nodes = free[:count]
	slices.Sort(f.Nodes)
	until := at + f.For + settle
	if kind == FaultKill && f.For == 0 {
		until = 1 << 62
	}
	if kind == FaultCut {
		s.cut = until
	}
	for _, n := range f.Nodes {
		s.busy[n] = until
	}
	s.faults = append(s.faults, f)
}

// spell draws how long a fault lasts: from low to high seconds where faults come every 5 s, and in proportion else.
func (c *ChaosConfig) spell(r *rand.Rand, low, high float64) time.Duration {
	d := time.Duration((low + r.Float64()*(high-low)) * float64(c.Every) / 5)
	return min(d, max(c.Every, c.Duration/2)).Round(100 * time.Millisecond)
}

// gone is how many nodes may stay dead: a job must keep a majority of three members.
func (c *ChaosConfig) gone(nodes int) int { return max(1, nodes/9) }
