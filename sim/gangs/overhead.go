package gangs

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"skep/gang"
	"skep/grid"
)

// series is how many series of measurements a schedule needs: availability and memory of each host, and a bandwidth
// for each site and each other one. What it takes to collect them grows with the number of hosts and with the square of
// the number of sites [1, section III.C]: that the monitor measures all pairs within a site costs nobody a question.
func (t *testbed) series() int {
	sites := map[int]bool{}
	for _, m := range t.machines {
		sites[m.site] = true
	}
	return 2*len(t.machines) + len(sites)*len(sites)
}

// asked draws the time of so many questions, one after the other. It is log-normal, with a variation that is the same
// for all of them: a service is slow or is not.
func (q *Queries) asked(r *grid.Rand, questions int, mean float64) float64 {
	sigma := math.Sqrt(math.Log(1 + q.Variation*q.Variation))
	return float64(questions) * mean * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
}

// overhead is e4: the times of collecting information and of the search, by mode, ten times.
func (s *Setting) overhead(n int, seed uint64) Figures {
	f := Figures{}
	var collect [3][]float64
	var search, part []float64
	for rep := range uint64(many) {
		t := s.testbed(repetition(seed, n, rep))
		r, q := grid.NewRand(t.seed, streamQueries), &s.Queries
		remote := q.asked(r, t.series(), q.Remote)
		collect[0] = append(collect[0], q.asked(r, len(t.machines), q.Directory)+remote)
		collect[1] = append(collect[1], q.asked(r, t.series(), q.Remote))
		collect[2] = append(collect[2], q.asked(r, t.series(), q.Local))
		x, examined, err := gang.Search(t.pool(dynamic), gang.COP{Model: t.model(n), Mapper: dividing("time_balance")},
			gang.Policy{Conserve: gang.DefaultConserve})
		if err != nil {
			continue
		}
		search = append(search, float64(examined.Groups)*q.Group)
		part = append(part, 100*float64(examined.Groups)*q.Group/(100*x.Time))
	}
	for k, mode := range Modes {
		f.set(mode, "collect", stat.Mean(collect[k], nil))
		f.set(mode, "search", stat.Mean(search, nil))
		f.set(mode, "total", stat.Mean(collect[k], nil)+stat.Mean(search, nil))
		f.set(mode, "search_part", stat.Mean(part, nil))
		f.set(mode, "search_of_collect", 100*stat.Mean(search, nil)/stat.Mean(collect[k], nil))
	}
	return f
}
