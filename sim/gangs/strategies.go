package gangs

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"skep/gang"
	"skep/gang/model"
	"skep/sim/rank"
)

// Strategies of e3, in the order in which they are run [1, section V.D.1].
var Strategies = []string{"user", "basic", "static", "dynamic"}

// Modes of e4: a directory and a monitor far away; the directory's answers cached; the monitor near, too.
var Modes = []string{"a", "b", "c"}

// plan makes the schedule of a strategy; false where there is none.
func (t *testbed) plan(n int, strategy string) (rows, bool) {
	policy := gang.Policy{Conserve: gang.DefaultConserve}
	cop := gang.COP{Model: t.model(n), Mapper: dividing("time_balance")}
	var pool *gang.Pool
	switch strategy {
	case "user":
		return t.byHand(n)
	case "basic":
		m, err := model.New("memory", map[string]float64{"units": float64(n), "unit_memory": 8 * float64(n),
			"margin": t.Margin}, nil)
		if err != nil {
			panic("gangs: " + err.Error())
		}
		policy.MemoryOnly, cop, pool = true, gang.COP{Model: m, Mapper: dividing("equal")}, t.pool(dynamic)
	case "static":
		pool = t.pool(static)
	default:
		pool = t.pool(dynamic)
	}
	s, _, err := gang.Search(pool, cop, policy)
	if err != nil {
		return rows{}, false
	}
	return whole(&s), true
}

// byHand is what a person does: equal shares on as few machines as their memory allows, those of the home site first.
func (t *testbed) byHand(n int) (rows, bool) {
	pool, m, s := t.pool(static), t.model(n), gang.Schedule{}
	var on []int
	for h := range t.machines {
		on = append(on, h)
		if dividing("equal").Map(&gang.Group{Pool: pool, Places: on}, m, &s) == nil {
			return whole(&s), true
		}
	}
	return rows{}, false
}

// strategies is e3: all four back to back, ten times.
func (s *Setting) strategies(n int, seed uint64) Figures {
	f := Figures{}
	var ranks, degradations [4][]float64
	for rep := range uint64(many) {
		t := s.testbed(repetition(seed, n, rep))
		var took []float64
		for _, strategy := range Strategies {
			iteration := math.NaN()
			if x, ok := t.plan(n, strategy); ok {
				if got, ok := t.run(n, x); ok {
					iteration = got
				}
			} else {
				t.now += pause
			}
			took = append(took, iteration)
		}
		place, degradation := rank.Ranks(took, rank.LastInOrder), rank.Degradations(took)
		for k := range Strategies {
			ranks[k] = append(ranks[k], place[k])
			if !math.IsNaN(took[k]) {
				degradations[k] = append(degradations[k], degradation[k])
			}
		}
	}
	for k, strategy := range Strategies {
		f.set(strategy, "rank", stat.Mean(ranks[k], nil))
		f.set(strategy, "completed", float64(len(degradations[k])))
		if len(degradations[k]) > 0 {
			f.set(strategy, "degradation", stat.Mean(degradations[k], nil))
		}
	}
	return f
}
