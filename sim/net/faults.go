package net

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/grid"
	"skep/sim"
)

// faults draws the nodes of each fault, and the sessions of the groups. At the end of arrivals every node that left by
// a session is restarted, so that its tasks end.
func (s *Scenario) faults(seed uint64) []sim.Fault {
	r := grid.NewRand(seed, streamFaults)
	var all []sim.Fault
	for k := range s.Faults {
		f := &s.Faults[k]
		all = append(all, sim.Fault{At: f.At, Kind: f.Kind, Nodes: s.picked(f.Nodes, r), Factor: f.Factor})
	}
	r = grid.NewRand(seed, streamSessions)
	bounds := s.bounds()
	for g := range s.Groups {
		if s.Groups[g].Up.Kind == NoSpan {
			continue
		}
		for i := bounds[g]; i < bounds[g+1]; i++ {
			all = s.sessions(all, &s.Groups[g], i, r)
		}
	}
	for g := range s.Groups {
		for i := bounds[g]; i < bounds[g+1]; i++ {
			all = s.others(all, &s.Groups[g], i, grid.NewRand(seed, streamLoads<<32+uint64(i)))
		}
	}
	slices.SortStableFunc(all, func(a, b sim.Fault) int { return cmp.Compare(a.At, b.At) })
	return all
}

// sessions appends the sessions of a node. Its first session is under way when the world begins: its residual length
// is drawn as a session, which is exact for exponential ones.
func (s *Scenario) sessions(all []sim.Fault, g *Group, i int, r *grid.Rand) []sim.Fault {
	who := []int{i}
	for at := g.Up.draw(r); at < s.Time; at += max(g.Up.draw(r), minSession) {
		end := sim.Fault{At: at, Kind: sim.Crash, Nodes: who}
		down := max(g.Down.draw(r), minSession)
		if g.Leaves > 0 && r.Float64() < g.Leaves {
			end.Kind = sim.Leave
			down = max(down, 2*time.Second) // it runs one more second to announce that it leaves
		}
		all = append(all, end)
		at += down
		all = append(all, sim.Fault{At: min(at, s.Time), Kind: sim.Restart, Nodes: who})
	}
	return all
}

// others appends the times at which other users of a node come and go.
func (s *Scenario) others(all []sim.Fault, g *Group, i int, r *grid.Rand) []sim.Fault {
	l := &g.Load
	if l.Left == 0 {
		return all
	}
	usual := cmp.Or(g.Left, 1)
	span := func(mean time.Duration) time.Duration {
		return max(grid.Seconds(r.ExpFloat64()*mean.Seconds()), minLoad)
	}
	busy := r.Float64() < l.Busy.Seconds()/(l.Busy+l.Free).Seconds()
	for at := time.Duration(0); at < s.Time; busy = !busy {
		f := sim.Fault{At: at, Kind: sim.Share, Nodes: []int{i}, Factor: usual}
		if busy {
			f.Factor, at = min(usual, l.Left), at+span(l.Busy)
		} else {
			at += span(l.Free)
		}
		all = append(all, f)
	}
	return all
}

// picked returns the nodes that picks name, each once.
func (s *Scenario) picked(picks []Pick, r *grid.Rand) []int {
	var out []int
	bounds := s.bounds()
	for _, p := range picks {
		from, to := 0, s.nodes()
		for g := range s.Groups {
			if s.Groups[g].Name == p.Group {
				from, to = bounds[g], bounds[g+1]
			}
		}
		switch {
		case p.Share > 0:
			for _, k := range r.Perm(to - from)[:pickSize(p, to-from)] {
				out = append(out, from+k)
			}
		default:
			if p.From >= 0 {
				from, to = from+p.From, from+p.To+1
			}
			for i := from; i < to; i++ {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *Scenario) checkFaults(bad func(where, format string, args ...any)) {
	for i := range s.Faults {
		where := fmt.Sprint("faults.", i)
		for _, p := range s.Faults[i].Nodes {
			size := s.nodes()
			if g := s.group(p.Group); g != nil {
				size = g.Count
			} else if p.Group != "" {
				bad(where, "nodes %q: is no group", p.Group)
				continue
			}
			if p.To >= size {
				bad(where, "nodes up to %d: want at most %d, the positions begin at 0", p.To, size-1)
			}
			if p.Share > 0 && pickSize(p, size) == 0 {
				bad(where, "%g %% of %d nodes is none of them", 100*p.Share, size)
			}
		}
		if s.Faults[i].At > s.Time {
			bad(where, "at %v: want at most time, %v", s.Faults[i].At, s.Time)
		}
	}
	sum := 0.0
	for g := range s.Groups {
		sum += s.Groups[g].sessions(s.Time)
		if l := s.Groups[g].Load; l.Left > 0 {
			sum += float64(s.Groups[g].Count) * s.Time.Seconds() / (max(l.Busy, minLoad) + max(l.Free, minLoad)).Seconds()
		}
	}
	if sum > MaxSessions {
		bad("nodes", "about %.3g sessions and loads end before time, %v: want at most %d", sum, s.Time, MaxSessions)
	}
}

// sessions returns the approximate number of sessions of a group that end before a time.
func (g *Group) sessions(before time.Duration) float64 {
	if g.Up.Kind == NoSpan {
		return 0
	}
	return float64(g.Count) * before.Seconds() / (max(g.Up.mean(), minSession) + max(g.Down.mean(), minSession)).Seconds()
}

// pickSize returns the number of nodes that a pick by share selects.
func pickSize(p Pick, of int) int { return min(of, int(p.Share*float64(of)+0.5)) }

// minLoad is the least time between two changes of a node's load.
const minLoad = 100 * time.Millisecond

// minSession is the least time between a node's restart and its next leaving, and the reverse.
const minSession = time.Second

// faultKinds are the faults of a file.
var faultKinds = map[string]sim.FaultKind{"crash": sim.Crash, "leave": sim.Leave, "restart": sim.Restart,
	"cut": sim.Cut, "cut_out": sim.CutOut,
	"cut_in": sim.CutIn, "heal": sim.Heal, "slow": sim.Slow, "drift": sim.Drift, "share": sim.Share}

// pick parses the nodes of a fault: all, a group, group/FROM-TO, a share as 10%, or group/10%.
func pick(t string) (p Pick, err error) {
	p.From, p.To = -1, -1
	group, part, both := strings.Cut(t, "/")
	if !both && (strings.HasSuffix(t, "%") || t == "all") {
		group, part = "", t
	}
	p.Group = group
	switch {
	case part == "" && !both, part == "all":
	case strings.HasSuffix(part, "%"):
		share, perr := strconv.ParseFloat(strings.TrimSuffix(part, "%"), 64)
		if p.Share = share / 100; perr != nil || !(p.Share > 0 && p.Share <= 1) {
			err = fmt.Errorf("%.60q: want a share of more than 0%%, at most 100%%", t)
		}
	default:
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		var e1, e2 error
		p.From, e1 = strconv.Atoi(lo)
		p.To, e2 = strconv.Atoi(hi)
		if e1 != nil || e2 != nil || p.From < 0 || p.To < p.From {
			err = fmt.Errorf("%.60q: want GROUP, GROUP/FROM-TO with positions from 0, GROUP/10%%, 10%% or all", t)
		}
	}
	return p, err
}
