package paper

import (
	"skep/sim/gangs"
	"skep/sim/queueing"
)

// work is a study while it is run.
type work struct {
	study       *Study
	options     Options
	results     map[key]*ran
	series      map[series]gangs.Figures // of the world gangs: what more than one scenario needs
	done, total float64                  // expected tasks
}

// progress tells of a simulation that is so much of the work, while it is run; nil where nobody asks.
func (w *work) progress(size float64) func(done, of int) {
	if w.options.Progress == nil {
		return nil
	}
	return func(done, of int) { w.options.Progress(min((w.done+size*float64(done)/float64(of))/w.total, 1)) }
}

// did counts work that is done.
func (w *work) did(size float64) {
	if w.done += size; w.options.Progress != nil {
		w.options.Progress(min(w.done/w.total, 1))
	}
}

// size is what all runs and curves together come to.
func (w *work) size() (sum float64) {
	for _, x := range w.study.runs {
		if l := form(w.options.Full, x.lengths); w.study.World == "brokers" {
			sum += jobs(x, l)
		} else if w.study.World == "spread" {
			sum += l.time * float64(nodesOf(x.scenario)*l.replications*len(x.policies))
		} else if w.study.World == "gangs" {
			sum += float64(l.replications)
		} else if w.study.World == "bags" {
			sum += float64(l.replications * len(x.policies))
		} else if w.study.World == "market" {
			sum += w.study.auctionTasks(x, l)
		} else if w.study.World == "reallocation" {
			sum += w.study.experiments(x, l)
		} else if w.study.World == "recovery" {
			sum += taskSets(x, l)
		} else if w.study.World == "federation" {
			sum += handedOver(x, l)
		} else {
			sum += tasks(w.study.systems[x.scenario], x.policies, l)
		}
	}
	if w.study.World != "" {
		return sum
	}
	for _, c := range w.study.curves {
		n := float64(len(form(w.options.Full, c.values)))
		sum += n * tasks(w.study.systems[c.scenario], c.policies, form(w.options.Full, c.lengths))
	}
	return sum
}

// tasks is how many tasks arrive in a run, about.
func tasks(s *queueing.System, policies []string, l length) float64 {
	rate := 0.0
	for _, a := range s.Alpha {
		rate += a
	}
	for _, row := range s.AlphaAt {
		for k, a := range row {
			rate += a * float64(max(s.Machines[k].Count, 1))
		}
	}
	return rate * l.time * float64(l.replications*len(policies))
}
