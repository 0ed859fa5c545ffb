package balance

import (
	"math"
	"time"

	"skep/grid"
)

// classSpill is cb_lis with spill-over: while the nodes of a class are busy for more than SpillHigh of the time,
// its tasks may also go to nodes of another class that is not as busy itself, where nothing waits, if they are done
// sooner there than at home, and a node is likely to be done with such a task before it is needed:
//
//	S_own ≤ S_m·(1−U_m)/U_m
//
// with the execution time S and the busy share U of the other class m: a machine that is busy for U of the time
// with tasks of S is idle for that long between them. [4, section 5.2] names the lending of resources between
// classes as what is left to do; the rule is ours. How busy a class is, is seen at each poll.
type classSpill struct {
	classLoad
	kept []kept
}

// kept is what is known of the nodes that are kept for a class.
type kept struct {
	class string
	busy  float64 // share of the slots at work, decayed mean
	at    grid.Time
	spill bool // its tasks go elsewhere too

	sum, slots float64 // of one poll
}

// mostKept bounds the classes whose load is watched.
const mostKept = 64

func init() {
	register("cb_spill", func(c *Config, r *grid.Rand) Policy {
		own := *c
		c = &own
		if c.SpillHigh == 0 {
			c.SpillHigh, c.SpillBack = 0.85, 0.75
		}
		if c.SpillLow == 0 {
			c.SpillLow = 0.95
		}
		if c.SpillMemory == 0 {
			c.SpillMemory = 6000 * time.Second
		}
		return &classSpill{classLoad: classLoad{decider: decider{cfg: c, rand: r}, serving: true}}
	})
}

// Poll asks as cb_lis does, and others too: how busy they are is known in no other way.
func (p *classSpill) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	base := len(dst)
	dst = p.classLoad.Poll(now, t, v, dst)
	if p.alone && p.lonely == t.ID && len(v.Nodes) > 0 { // nobody is kept for the class: all are as good
		p.alone = false
	}
	p.scores, p.picked = p.scores[:0], p.picked[:0]
	p.rank(now, v, true)
	for k := range v.Nodes {
		if v.Nodes[k].may(t.Class) {
			p.scores[k] = math.Inf(1)
		}
	}
	own := len(dst) - base
	dst = p.ask(v, p.cfg.PollMax, dst)
	if p.cfg.PollMax > 0 && own > 0 && !p.spills(t.Class) {
		return dst[:min(len(dst), base+own+1)] // one is enough to see how busy the others are
	}
	return dst
}

func (p *classSpill) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	p.watch(now, answers)
	c := p.classLoad.Choose(now, t, answers)
	best := -1
	if p.spills(t.Class) || c.Act != Place {
		best = p.spill(now, t, answers, c.Act == Place)
	}
	if best < 0 {
		return c
	}
	return p.place(t, answers, best)
}

// spill finds the node of another class, with an empty queue, that does the task soonest, if it is done sooner than in
// the own class where there is one; −1 if there is none. A class that nobody is kept for goes to all. That the node has
// something to run does not exclude it: a task that is short for its class delays what comes next by little,
// and with idle nodes alone an overloaded class fills up whenever the others happen to work.
func (p *classSpill) spill(now grid.Time, t *grid.Task, answers []State, served bool) int {
	best := math.Inf(1)
	if served {
		for k := range answers {
			if s := &answers[k]; s.serves(t.Class) && able(s) == 0 {
				best = min(best, sound(s.ECT)+p.charge(now, s))
			}
		}
	}
	at := -1
	for k := range answers {
		s := &answers[k]
		if s.serves(t.Class) || s.Site.Closed || able(s) != 0 {
			continue
		}
		if served && (s.Waiting > 0 || !p.mayRunOthers(s)) {
			continue
		}
		e := s.ECT + p.charge(now, s)
		if at >= 0 && e == best && p.prefers(s, &answers[at]) <= 0 {
			continue
		}
		if e < best {
			best, at = e, k
		}
	}
	return at
}

// mayRunOthers reports whether a node is free for a task of another class.
func (p *classSpill) mayRunOthers(s *State) bool {
	x := p.of(s.Site.Class)
	if x == nil || x.busy >= p.cfg.SpillLow {
		return false
	}
	j, ok := p.rates.lookup(&s.Node)
	if !ok || x.busy == 0 {
		return true
	}
	mu, known := p.rates.execution(j, p.rates.wanted(s.Site.Class))
	return !known || mu == 0 || execution(s)*x.busy <= (1-x.busy)/mu
}

// watch takes the answers of a poll into the shares of time that the classes are busy.
func (p *classSpill) watch(now grid.Time, answers []State) {
	for k := range p.kept {
		p.kept[k].sum, p.kept[k].slots = 0, 0
	}
	for k := range answers {
		s := &answers[k]
		if s.Site == nil || s.Site.Closed || s.Site.Class == "" {
			continue
		}
		x := p.of(s.Site.Class)
		if x == nil {
			if len(p.kept) == mostKept {
				continue
			}
			p.kept = append(p.kept, kept{class: s.Site.Class, at: now})
			x = &p.kept[len(p.kept)-1]
		}
		slots := 1.0
		if j, ok := p.rates.lookup(&s.Node); ok && p.rates.rated[j] {
			slots = max(p.rates.slots[j], leastSlots)
		}
		x.sum += min(float64(max(s.Running, 0)), slots)
		x.slots += slots
	}
	for k := range p.kept {
		if x := &p.kept[k]; x.slots > 0 {
			x.busy += (x.sum/x.slots - x.busy) * -math.Expm1(-now.Sub(x.at).Seconds()/p.cfg.SpillMemory.Seconds())
			x.at = now
			x.spill = x.busy > p.cfg.SpillHigh || x.spill && x.busy >= p.cfg.SpillBack
		}
	}
}

// spills reports whether tasks of a class may go to nodes of others.
func (p *classSpill) spills(class string) bool {
	x := p.of(class)
	return x != nil && x.spill
}

func (p *classSpill) of(class string) *kept {
	for k := range p.kept {
		if p.kept[k].class == class {
			return &p.kept[k]
		}
	}
	return nil
}
