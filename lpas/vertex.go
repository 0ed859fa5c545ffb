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
	for j, o := range w.owner {
		if int(o) == w.n {
			continue
		}
		if w.deg[j] == 0 {
			sol.Delta = append(sol.Delta, Share{o, int32(j), w.cap[j]})
			continue
		}
		w.reportShared(int32(j), sol)
	}
	sol.Lambda = math.Inf(1)
	for i, l := range w.level {
		if l >= 0 {
			sol.Lambda = min(sol.Lambda, w.s[i]/w.alpha[i])
		}
	}
}

// reportShared appends the shares of a machine that has ties and adds them to the supply of the
// classes.
func (w *Workspace) reportShared(j int32, sol *Solution) {
	first := len(sol.Delta)
	worth := w.y[w.owner[j]] * w.rate[j]
	var sum float64
	for e, x := range w.edges {
		if x.machine == j && w.flow[e] > w.slack[e] {
			d := w.flow[e] / worth
			sol.Delta = append(sol.Delta, Share{x.class, j, d})
			sum += d
			for k := len(sol.Delta) - 1; k > first && sol.Delta[k].Class < sol.Delta[k-1].Class; k-- {
				sol.Delta[k], sol.Delta[k-1] = sol.Delta[k-1], sol.Delta[k]
			}
		}
	}
	for k := first; k < len(sol.Delta); k++ {
		d := &sol.Delta[k]
		if sum > w.cap[j] {
			d.Part *= w.cap[j] / sum
		}
		w.s[d.Class] += d.Part * w.mu[int(d.Class)*w.m+int(j)]
	}
}
