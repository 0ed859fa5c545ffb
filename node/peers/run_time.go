package peers

import (
	"cmp"
	"math"
	"time"

	"skep/grid"
	"skep/node/deadline"
	"skep/node/rates"
)

// Expected run times: what this node measured, joined with what its peers state.

// RunTime is the expected run time of a task of the class on one slot of this node, seconds, under the present use of
// its cores, and its squared coefficient of variation.
func (p *Peers) RunTime(class string) (mean, scv float64) {
	mean, scv = p.cfg.Rates.RunTime(class, p.statedRates)
	return mean / p.cfg.Exec.Speed(grid.CPU), scv
}

// Expected returns the expected run time of a class on any worker in seconds; 0 if unknown.
func (p *Peers) Expected(class string) float64 { return p.cfg.Rates.Expected(class, p.statedRates) }

// ProcessTime is Expected without the start of a task and the collection of its output, as far as that is known.
func (p *Peers) ProcessTime(class string) float64 {
	return p.cfg.Rates.ProcessTime(class, p.statedRates)
}

// statedRates appends μ/speed of a class as the connected peers state them, if proven only of those with a proven track
// record.
func (p *Peers) statedRates(class string, proven bool, dst []float64) []float64 {
	seen := p.records.Cursor()
	for _, q := range p.set {
		if !q.up || proven && !seen.Next(q.id).Proven() {
			continue
		}
		for i := range q.rates {
			if q.rates[i].Class == class && q.rates[i].Mu > 0 {
				dst = append(dst, q.rates[i].Mu/q.speed)
			}
		}
	}
	return dst
}

// rateOf returns the execution rate of one slot of a peer for a level of a class: measured there, estimated for the
// level, or else measured or estimated for the class. typical is the rate of the level: see levelRate.
func (p *Peers) rateOf(q *peer, level string, typical float64) float64 {
	if mu := rateIn(q.rates, level); mu > 0 {
		return mu
	}
	class, finer := grid.ClassOfLevel(level)
	if finer {
		if typical > 0 {
			return rates.RateAtSpeed(typical, q.speed)
		}
		if mu := rateIn(q.rates, class); mu > 0 {
			return mu
		}
	}
	return p.cfg.Rates.Rate(class, q.speed, p.statedRates)
}

// levelRate is the typical rate of a finer level alone; 0 = none, or the class has no such level.
func (p *Peers) levelRate(level string) float64 {
	if _, finer := grid.ClassOfLevel(level); !finer {
		return 0
	}
	return p.cfg.Rates.LevelRate(level, p.statedRates)
}

// MoveTime is how long a task's move to a node with a round trip takes that has to fetch so many bytes, in seconds, as
// measured.
func (p *Peers) MoveTime(rtt time.Duration, bytes float64) float64 {
	return p.cfg.Rates.Overhead(rtt, bytes)
}

// Told is the level of a task's class by which tasks are allocated.
func (p *Peers) Told(level string) string { return p.cfg.Rates.Told(level) }

// rateIn is the execution rate of a class among rates; 0 = none.
func rateIn(rates []grid.Rate, class string) float64 {
	for i := range rates {
		if rates[i].Class == class && rates[i].Mu > 0 {
			return rates[i].Mu
		}
	}
	return 0
}

// inputBytes is the mean size of the inputs of a job's tasks; 0 of none.
func inputBytes(spec *grid.JobSpec) (size float64) {
	if spec != nil {
		spec.EachInput(func(in *grid.File, share float64) { size += share * float64(in.Size) })
	}
	return size
}

// Arrive counts tasks of a job that were submitted here.
func (p *Peers) Arrive(now grid.Time, class string, spec *grid.JobSpec, tasks int) {
	p.cfg.Rates.Arrive(now, class, spec, tasks)
}

// Demoted counts a task that arrives in the class that it was demoted to, and returns that class; the string is kept
// once for all tasks.
func (p *Peers) Demoted(now grid.Time, next string, spec *grid.JobSpec) string {
	next = p.cfg.Rates.Intern(next)
	p.cfg.Rates.ArriveForeign(now, next, spec)
	return next
}

// excludesNone excludes no node.
type excludesNone struct{}

func (excludesNone) Excludes(grid.NodeID, bool) bool { return false }

// Lanes are the nodes that may run the tasks of a job that is submitted, only this one if it is local; none if it is
// not known how long such tasks take.
func (p *Peers) Lanes(now grid.Time, spec *grid.JobSpec, class string, local bool) (lanes []deadline.Lane) {
	n := Need{Spec: spec, Class: class, Level: cmp.Or(grid.LevelOf(spec), class), Excluded: excludesNone{}}
	n.Limit = math.SmallestNonzeroFloat64 // the soonest option, whatever each is worth
	if p.Expected(n.Level) == 0 {
		return nil
	}
	nodes, _ := p.Eligible(now, &n, nil)
	for i := range nodes {
		if s := &nodes[i]; !local || s.Node == p.cfg.Self {
			slots := p.Capacity(s.Node).Slots(spec.AsOption(s.Option).Needs.Resources, int(spec.Count))
			lanes = append(lanes, deadline.Lane{Slots: slots, Ready: s.Ready, Run: s.ECT - s.Ready})
		}
	}
	return lanes
}
