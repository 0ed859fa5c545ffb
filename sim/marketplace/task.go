package marketplace

import (
	"math"

	"skep/balance/market"
	"skep/grid"
)

// task is a task of the market, from its creation until its client has the result.
type task struct {
	query   market.Query
	weight  float64
	counts  bool  // it is measured
	at      int32 // server that it is at; -1 = none
	running bool
	done    bool
	owner   int32 // whose matcher has its query
	moves   int32
	stops   int32 // times that it was suspended
}

func (t *task) id() uint32 { return uint32(t.query.ID) }

// source creates the tasks.
type source struct {
	sys  *System
	next float64 // arrival
	from float64 // tasks created after it are measured,
	most int     // until there are so many

	gaps, sizes, weights, values *grid.Rand
	counted                      int
}

// advance sets the time of the next burst.
func (s *source) advance() {
	s.next += s.gaps.ExpFloat64() * float64(s.sys.Tasks.Burst) / s.sys.Rate()
}

// make creates a task.
func (s *source) make(now float64) task {
	t := &s.sys.Tasks
	size := t.smallest()
	if t.Spread > 1 {
		size *= math.Pow(t.Spread, s.sizes.Float64())
	}
	weight := t.Weights[0] + (t.Weights[1]-t.Weights[0])*s.weights.Float64()
	x := task{weight: weight, at: -1, query: market.Query{Size: size, Left: size, Bid: weight,
		Created: now, Deadline: math.Inf(1), From: -1}}
	if now >= s.from && s.counted < s.most {
		s.counted++
		x.counts = true
	}
	alone := size / s.sys.reference()
	switch {
	case t.Factor > 0:
		x.query.Deadline = now + t.Factor*alone
	case t.Slow1 > 0:
		x.query.Value = market.Value{Slow1: t.Slow1, Slow2: t.Slow2[0] + (t.Slow2[1]-t.Slow2[0])*s.values.Float64()}
	}
	if a := s.sys.Ageing; a != nil {
		x.query.Age(market.Ageing{Min: weight, Max: a.Max, Time: a.Time})
	}
	return x
}
