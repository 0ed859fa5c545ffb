package lpas

import "math"

// Vertex solves the problem and returns a basic solution: at most N+M−1 shares, and exactly so many
// when the optimum is unique and every class is a bottleneck. This is the optimum that all of [1]
// uses unless it says otherwise (section 2.2).
//
// Which optimum, where there are many: [1] leaves open what a class gets that is no bottleneck, and an
// arbitrary vertex may give it all of a machine or just lambda, and leave machines idle. Here the
// machines that no bottleneck can use are shared out by the same rule among those that remain, and so
// on. So, when Optimal, every class that has arrivals and is not in Unrunnable has a share somewhere, and
// every machine that such a class can run on is used in full. [1] does not ask for that.
//
// A class without arrivals gets no share; a policy that meets one all the same may use any machine with
// mu > 0, or give it a small alpha.
//
// The solution starts from b and leaves b ready for the next solve. Neither allocates once ws, b and
// sol have grown to the size of the problem.
func Vertex(p *Problem, b *Basis, ws *Workspace, sol *Solution) {
	if !ws.load(p, sol) {
		ws.nothing(sol)
		return
	}
	ws.begin(b)
	sol.Status = Optimal
	if !ws.finish() {
		sol.Status = PivotCap
	}
	ws.report(sol)
	b.store(ws)
}

// finish runs to an optimum of the problem's own rates. It is false if the pivots ran out before.
func (w *Workspace) finish() bool {
	done := w.run()
	for done && &w.mu[0] != &w.real[0] {
		w.mu = w.real
		w.refresh()
		for l := range w.open {
			w.open[l] = true
		}
		done = w.run()
	}
	if !done {
		w.mu = w.real
		w.refresh()
	}
	return done
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
// classes. A tie whose flow is 0 but for rounding gives no share; it counts as 0 if it matters neither to
// the class nor to the machine, for either may be tiny beside all the others.
func (w *Workspace) reportShared(j int32, delta []Share) []Share {
	first := len(delta)
	worth := w.y[w.owner[j]] * w.rate[j]
	var sum float64
	for e, x := range w.edges {
		if x.machine != j {
			continue
		}
		wants := w.lambda[w.level[x.class]] * w.alpha[x.class] * w.y[x.class]
		if w.flow[e] > slackOf*min(wants, w.cap[j]*worth) {
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
