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
	size float64 // the smallest

	gaps, sizes, weights, values *grid.Rand
	counted                      int
}

// newSource returns a source of which tasks created after from are measured, as many as arrive in a time of measured on
// the average.
func newSource(s *System, from, measured float64, stream func(int) *grid.Rand) source {
	return source{sys: s, from: from, most: int(math.Round(s.Rate() * measured)), size: s.Tasks.smallest(),
		gaps: stream(streamGaps), sizes: stream(streamSizes), weights: stream(streamWeights), values: stream(streamValues)}
}

// advance sets the time of the next burst.
func (s *source) advance() {
	s.next += s.gaps.ExpFloat64() * float64(s.sys.Tasks.Burst) / s.sys.Rate()
}

// make creates a task in x, which has its ID and nothing else.
func (s *source) make(x *task, now float64) {
	t, size := &s.sys.Tasks, s.size
	if t.Spread > 1 {
		size *= math.Pow(t.Spread, s.sizes.Float64())
	}
	weight := t.Weights[0] + (t.Weights[1]-t.Weights[0])*s.weights.Float64()
	x.weight, x.at = weight, -1
	q := &x.query
	q.Size, q.Left, q.Bid, q.Created, q.Deadline, q.From = size, size, weight, now, math.Inf(1), -1
	if now >= s.from && s.counted < s.most {
		s.counted++
		x.counts = true
	}
	alone := size / s.sys.reference()
	switch {
	case t.Factor > 0:
		q.Deadline = now + t.Factor*alone
	case t.Slow1 > 0:
		q.Value = market.Value{Slow1: t.Slow1, Slow2: t.Slow2[0] + (t.Slow2[1]-t.Slow2[0])*s.values.Float64()}
	}
	if a := s.sys.Ageing; a != nil {
		q.Age(market.Ageing{Min: weight, Max: a.Max, Time: a.Time})
	}
}
