package gangs

import (
	"fmt"
	"maps"
	"slices"

	"skep/gang"
	"skep/gang/mapper"
)

// named are machines of [1, Table V.1] by their names there.
var named = map[string]machine{"torc3": {550, 512, utk, 0, 2}, "torc7": {550, 512, utk, 0, 2},
	"cmajor": {266, 128, uiuc, 0, 1}, "fmajor": {266, 128, uiuc, 0, 1}, "hmajor": {266, 128, uiuc, 0, 1},
	"dralion": {450, 256, ucsd, 0, 1}, "soleil": {400, 256, ucsd, 0, 1}, "quidam": {400, 256, ucsd, 0, 1}}

func (s *Setting) checkMachines() error {
	for _, m := range s.Machines {
		if _, is := named[m]; !is {
			return fmt.Errorf("machine %q: want one of %v", m, slices.Sorted(maps.Keys(named)))
		}
	}
	if s.Experiment == "vectors" && len(s.Machines) == 0 || s.Experiment == "counts" && len(s.Clusters) == 0 {
		return fmt.Errorf("experiment %s: want machines, or clusters of counts", s.Experiment)
	}
	return nil
}

// links are those of a pool by the sites of its machines, with what lies between two sites, bytes a second.
func (s *Setting) links(site func(machine int) int, wan func(from, to int) float64) func(a, b int) gang.Link {
	return func(a, b int) gang.Link {
		from, to := site(a), site(b)
		if from == to {
			return gang.Link{Latency: s.LAN.Latency.Seconds(), Bandwidth: s.LAN.Mbps * mega / 8}
		}
		return gang.Link{Latency: s.WAN.Latency.Seconds(), Bandwidth: wan(from, to)}
	}
}

// unloaded is what lies between two sites without other traffic.
func (s *Setting) unloaded(int, int) float64 { return s.WAN.Mbps * mega / 8 }

// vectors divides n×n points among unloaded machines, by each mapper: rows of each rank, the relaxation and the time.
func (s *Setting) vectors(n int) Figures {
	f, g := Figures{}, &gang.Group{}
	var all []gang.Machine
	for k, name := range s.Machines {
		m := named[name]
		all, g.Places = append(all, gang.Machine{Speed: m.mhz * mega, Memory: m.mb * mib}), append(g.Places, k)
	}
	g.Pool = gang.NewPool(all, s.links(func(k int) int { return named[s.Machines[k]].site }, s.unloaded))
	m := s.model(n)
	for _, by := range mapper.Names() {
		x := gang.Schedule{}
		if dividing(by).Map(g, m, &x) != nil {
			f.set(by, "feasible", 0)
			continue
		}
		f.set(by, "feasible", 1)
		f.set(by, "time", m.Predict(&x))
		f.set(by, "relaxation", x.Relaxation)
		for k, share := range x.Shares {
			f.set(by, fmt.Sprint("rows:", k), share)
		}
	}
	return f
}

// counts searches clusters of equal machines, a site each, and counts the candidate groups.
func (s *Setting) counts(n int) Figures {
	var all []gang.Machine
	var site []int
	for k, count := range s.Clusters {
		for range count {
			all, site = append(all, gang.Machine{Speed: 500 * mega, Memory: 512 * mib}), append(site, k)
		}
	}
	pool := gang.NewPool(all, s.links(func(k int) int { return site[k] }, s.unloaded))
	f, m := Figures{}, s.model(n)
	for _, by := range mapper.Names() {
		_, e, err := gang.Search(pool, gang.COP{Model: m, Mapper: dividing(by)}, gang.Policy{Conserve: gang.DefaultConserve})
		if err != nil {
			continue
		}
		f.set(by, "groups", float64(e.Groups))
		f.set(by, "distinct", float64(e.Distinct))
		f.set(by, "mapped", float64(e.Mapped))
	}
	return f
}
