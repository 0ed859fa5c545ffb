package lpas

import "math"

// Vertex solves the problem and returns a basic solution: at most N+M−1 shares, and exactly so many
// when the optimum is unique and every class is a bottleneck. This is the optimum that all of [1]
// uses unless it says otherwise.
func Vertex(p *Problem, b *Basis, ws *Workspace, sol *Solution) {
	if !ws.load(p, sol) {
		ws.nothing(sol)
		return
	}
	ws.begin(b)
	done := ws.run()
	for done && &ws.mu[0] != &ws.real[0] {
		ws.mu = ws.real
		ws.refresh()
		for l := range ws.open {
			ws.open[l] = true
		}
		done = ws.run()
	}
	ws.mu = ws.real
	sol.Status = Optimal
	if !done {
		sol.Status = PivotCap
		ws.refresh()
	}
	ws.report(sol)
	b.store(ws)
}

// nothing is the solution where no class has both arrivals and a machine. The basis stays as it is:
// the demand may come back.
func (w *Workspace) nothing(sol *Solution) {
	sol.Lambda = 0
	if sol.Status == NoDemand {
		sol.Lambda = math.Inf(1)
	}
	sol.Bound = sol.Lambda
	for range w.n {
		sol.Price = append(sol.Price, 0)
	}
}

// report turns ties and owners into shares and prices. Flows that are negative, by rounding or since
// the pivots ran out, become 0, and what then is too much on a machine is scaled down: the shares are
// feasible in any case, and Lambda is what they support.
func (w *Workspace) report(sol *Solution) {
	for l := range w.levels {
		if w.levels == 1 && sol.Status == Optimal {
			break // as settle has just left it
		}
		has, wants := w.worth(int32(l))
		w.lambda[l] = has / wants
		for i, x := range w.level {
			if int(x) == l {
				w.y[i] /= wants
			}
		}
		w.flows(int32(l))
	}
	sol.Pivots = w.pivots
	for i, l := range w.level {
		y := 0.0
		if l == 0 {
			y = w.y[i]
		}
		sol.Price = append(sol.Price, y)
	}
	sol.Bound = w.lambda[0]
	none, delta := int32(w.n), sol.Delta
	for j, o := range w.owner {
		switch {
		case o == none:
		case w.deg[j] == 0:
			delta = append(delta, Share{o, int32(j), w.cap[j]})
		default:
			delta = w.reportShared(int32(j), delta)
		}
	}
	sol.Delta = delta
	sol.Lambda = math.Inf(1)
	for i, l := range w.level {
		if l >= 0 {
			sol.Lambda = min(sol.Lambda, w.s[i]/w.alpha[i])
		}
	}
}

// reportShared appends the shares of a machine that has ties and adds them to the supply of the
// classes.
func (w *Workspace) reportShared(j int32, delta []Share) []Share {
	first := len(delta)
	worth := w.y[w.owner[j]] * w.rate[j]
	var sum float64
	for e, x := range w.edges {
		if x.machine == j && w.flow[e] > w.slack[e] {
			d := w.flow[e] / worth
			delta = append(delta, Share{x.class, j, d})
			sum += d
			for k := len(delta) - 1; k > first && delta[k].Class < delta[k-1].Class; k-- {
				delta[k], delta[k-1] = delta[k-1], delta[k]
			}
		}
	}
	for k := range delta[first:] {
		d := &delta[first+k]
		if sum > w.cap[j] {
			d.Part *= w.cap[j] / sum
		}
		w.s[d.Class] += d.Part * w.mu[int(d.Class)*w.m+int(j)]
	}
	return delta
}
