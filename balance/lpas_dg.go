package balance

import (
	"skep/grid"
	"skep/lpas"
)

// lpasDG is LPAS_DG [1, section 3.2]: gcmu restricted to the classes of which the machine has a share in
// the allocation LP, whose capacities are the availabilities of the machines that are up. The robust form
// [1, section 3.4.5] takes every class that some optimum would give it.
type lpasDG struct {
	puller
	allocation allocation
	may        []bool // by row of the allocation and node
	m          int    // nodes when it was solved
}

func init() {
	pulls["lpas_dg"] = func(c *Config, _ *grid.Rand) Pull { return &lpasDG{allocation: newAllocation(c, lpas.Vertex)} }
	pulls["lpas_dg_robust"] = func(c *Config, _ *grid.Rand) Pull {
		return &lpasDG{allocation: newAllocation(c, lpas.MaxSupport)}
	}
}

func (p *lpasDG) Next(now grid.Time, m State, heads []Head) (Class, bool) {
	if p.allocation.refresh(&p.rates) {
		p.read()
	}
	j, ok := p.lookup(&m.Node)
	if !ok || int(j) >= p.m {
		return "", false
	}
	return first(heads, func(h *Head) float64 {
		row, class := p.allocation.rest, p.rates.wanted(h.Class)
		if class.own {
			row = p.allocation.rowOf(class.class)
		}
		if row < 0 || !p.may[int(row)*p.m+int(j)] {
			return -1
		}
		mu, _ := p.rates.execution(j, class)
		if mu == 0 {
			return -1
		}
		return mu * h.age(now)
	})
}

// read notes who may take what.
func (p *lpasDG) read() {
	p.m = len(p.allocation.problem.Cap)
	p.may = resized(p.may, len(p.allocation.problem.Alpha)*p.m)
	clear(p.may)
	for _, s := range p.allocation.ws.Last.Delta {
		p.may[int(s.Class)*p.m+int(s.Machine)] = true
	}
}

// Lambda implements [Solver].
func (p *lpasDG) Lambda() float64 { return p.allocation.factor() }

// Solves implements [Solver].
func (p *lpasDG) Solves() uint64 { return p.allocation.solves }
