package balance

import (
	"slices"

	"skep/grid"
)

// mct is minimum completion time [1, sections 2.1 and 4.1]: everybody is asked, the earliest expected
// completion gets the task. With PollMax the soonest as known without a message are asked, and one more.
type mct struct{ decider }

func init() {
	register("mct", func(c *Config, r *grid.Rand) Policy { return &mct{decider{cfg: c, rand: r}} })
}

func (p *mct) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *mct) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

// mctReading is mct with its own reading of the task that runs when another comes, which the sources count
// differently. mct takes the expected completion as it is said; these make theirs of what is said beside it:
//
//	mct_full    the running task in full        [1, section 2.1]
//	mct_rest    what is left of it              [4, section 3.4.1]
//	mct_queued  not at all, only what is queued [4, section 3.4.1, the other reading]
type mctReading struct {
	mct
	read func(*State) float64
}

func init() {
	for name, read := range map[string]func(*State) float64{"mct_full": (*State).full, "mct_rest": (*State).rest,
		"mct_queued": (*State).queued} {
		register(name, func(c *Config, r *grid.Rand) Policy {
			return &mctReading{mct{decider{cfg: c, rand: r}}, read}
		})
	}
}

func (p *mctReading) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	p.scores = p.scores[:0]
	for k := range answers {
		s := &answers[k]
		p.scores = append(p.scores, able(s)+sound(p.read(s))+p.charge(now, s))
	}
	return p.place(t, answers, draw(p.scores, p.cfg.NearTie, p.ties()))
}

func (p *mctReading) detailed() {}

// full is the expected completion with all of what runs, seconds.
func (s *State) full() float64 {
	if s.Whole {
		return s.ECT
	}
	return s.ECT + max(s.Ran, 0)
}

// rest is the expected completion with what is left of what runs.
func (s *State) rest() float64 {
	if s.Whole {
		return max(s.ECT-max(s.Ran, 0), 0)
	}
	return s.ECT
}

// queued is the expected completion without what runs.
func (s *State) queued() float64 { return max(s.rest()-max(s.Rest, 0), 0) }

// everybody appends all nodes of a view.
func everybody(v View, dst []grid.NodeID) []grid.NodeID {
	n := len(dst)
	dst = slices.Grow(dst, len(v.Nodes))[:n+len(v.Nodes)]
	for k := range v.Nodes {
		dst[n+k] = v.Nodes[k].Node
	}
	return dst
}
