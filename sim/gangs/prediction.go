package gangs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"skep/grid"
)

// Figures are what one series of an experiment gave: by policy, by name.
type Figures map[string]map[string]float64

func (f Figures) set(policy, figure string, x float64) {
	if f[policy] == nil {
		f[policy] = map[string]float64{}
	}
	f[policy][figure] = x
}

// statistics sets median, mean and standard deviation in percent. Of nothing there are none.
func (f Figures) statistics(policy string, percent []float64) {
	if len(percent) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(percent))
	n := len(sorted)
	f.set(policy, "median", (sorted[(n-1)/2]+sorted[n/2])/2)
	f.set(policy, "mean", stat.Mean(sorted, nil))
	if n > 1 {
		f.set(policy, "stddev", stat.StdDev(sorted, nil))
	}
}

// repetitions of e1 and e2, and of e3 and e4 [1, chapter V].
const (
	few  = 3
	many = 10
)

// repetition is the seed of one repetition: no two of any series are at one time.
func repetition(series uint64, n int, rep uint64) uint64 { return series<<32 + uint64(n)<<8 + rep }

// Run runs one series of an experiment with n×n points.
func (s *Setting) Run(n int, seed uint64) Figures {
	switch s.Experiment {
	case "e1":
		return s.prediction(n, seed)
	case "e2":
		return s.balance(n, seed)
	case "e3":
		return s.strategies(n, seed)
	case "vectors":
		return s.vectors(n)
	case "counts":
		return s.counts(n)
	}
	return s.overhead(n, seed)
}

// fixed are the machines of the sets of e1 and e2 of one series: the first of a drawn order of one site; so many drawn
// of each of three, site by site.
func (s *Setting) fixed(seed uint64) (sets [][]int) {
	r := grid.NewRand(seed, streamChoice)
	if s.Sites == 1 {
		order := r.Perm(6)
		for p := 1; p <= 6; p++ {
			sets = append(sets, order[:p])
		}
		return sets
	}
	for p := 1; p <= 6; p++ {
		var set []int
		first := 0
		for _, size := range []int{6, 8, 6} { // UCSD, UTK, UIUC
			for _, k := range r.Perm(size)[:p] {
				set = append(set, first+k)
			}
			first += size
		}
		sets = append(sets, set)
	}
	return sets
}

// prediction is e1: equal shares on fixed sets of machines; by how many percent predictions are wrong.
func (s *Setting) prediction(n int, seed uint64) Figures {
	f := Figures{}
	var wrong []float64
	sets := s.fixed(seed)
	for rep := range uint64(few) {
		t := s.testbed(repetition(seed, n, rep))
		for _, set := range sets {
			x, ok := t.given(n, set, "equal")
			if !ok {
				continue
			}
			if took, ok := t.run(n, x); ok {
				wrong = append(wrong, 100*math.Abs(x.predicted-took)/took)
			}
		}
	}
	f.set("equal", "completed", float64(len(wrong)))
	f.statistics("equal", wrong)
	return f
}

// balance is e2: by how many percent an iteration is shorter with shares of equal time than with equal shares.
func (s *Setting) balance(n int, seed uint64) Figures {
	f := Figures{}
	var shorter []float64
	done := map[string]float64{}
	mappers := []string{"equal", "time_balance"}
	attempted := 0.0
	sets := s.fixed(seed)
	for rep := range uint64(few) {
		t := s.testbed(repetition(seed, n, rep))
		for _, set := range sets {
			if len(set) == 1 {
				continue
			}
			attempted++
			var took [2]float64
			var ok [2]bool
			for k, by := range mappers {
				var x rows
				if x, ok[k] = t.given(n, set, by); ok[k] {
					if took[k], ok[k] = t.run(n, x); ok[k] {
						done[by]++
					}
				}
			}
			if ok[0] && ok[1] {
				shorter = append(shorter, 100*(took[0]-took[1])/took[0])
			}
		}
	}
	for _, by := range mappers {
		f.set(by, "completed", done[by])
		f.set(by, "unfinished", attempted-done[by])
	}
	f.set("time_balance", "comparable", float64(len(shorter)))
	f.statistics("time_balance", shorter)
	return f
}
