package net

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
	"skep/sim"
)

// faults draws who is struck, and the sessions of the groups. At the end of arrivals everybody who left by
// a session is back: what they took with them is to end.
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
	slices.SortStableFunc(all, func(a, b sim.Fault) int { return cmp.Compare(a.At, b.At) })
	return all
}

// sessions appends the comings and goings of a node. Its first session is under way when the world begins:
// what is left of it is drawn as a session too, which is exact for exponential ones.
func (s *Scenario) sessions(all []sim.Fault, g *Group, i int, r *grid.Rand) []sim.Fault {
	who := []int{i}
	for at := g.Up.draw(r); at < s.Time; at += max(g.Up.draw(r), time.Second) {
		end := sim.Fault{At: at, Kind: sim.Crash, Nodes: who}
		down := max(g.Down.draw(r), time.Second)
		if g.Leaves > 0 && r.Float64() < g.Leaves {
			end.Kind = sim.Leave
			down = max(down, 2*time.Second) // it goes on for one to say so
		}
		all = append(all, end)
		at += down
		all = append(all, sim.Fault{At: min(at, s.Time), Kind: sim.Restart, Nodes: who})
	}
	return all
}

// picked lists the nodes that picks name, each once.
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
			n := int(p.Share*float64(to-from) + 0.5)
			for _, k := range r.Perm(to - from)[:min(n, to-from)] {
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
