package balance

import "skep/grid"

// fcfs gives the task that has waited longest, whatever its class [1, section 3.1], of those that the
// machine can run; a machine of which no rates are known can run all.
type fcfs struct{ puller }

// gcmu is the generalised c·mu rule [1, section 3.1]: the head of the queue with the largest D·mu, its age
// times the rate at which the machine would execute it.
type gcmu struct{ puller }

func init() {
	pulls["fcfs"] = func(*Config, *grid.Rand) Pull { return &fcfs{} }
	pulls["gcmu"] = func(*Config, *grid.Rand) Pull { return &gcmu{} }
}

func (p *fcfs) Next(now grid.Time, m State, heads []Head) (Class, bool) {
	j, ok := p.lookup(&m.Node)
	return first(heads, func(h *Head) float64 {
		if ok && !p.rates.runs(j, h.Class) {
			return -1
		}
		return h.age(now)
	})
}

func (p *gcmu) Next(now grid.Time, m State, heads []Head) (Class, bool) {
	j, ok := p.lookup(&m.Node)
	if !ok {
		return "", false
	}
	return first(heads, func(h *Head) float64 {
		mu, _ := p.rates.execution(j, p.rates.wanted(h.Class))
		if mu == 0 {
			return -1
		}
		return mu * h.age(now)
	})
}

// runs reports whether a node may be able to run a class: what is not known, it may.
func (r *rates) runs(j int32, class string) bool {
	mu, known := r.execution(j, r.wanted(class))
	return !known || mu > 0
}
