package lpas

// supportTie: a class may use a machine if it values it within this part of the class that values it
// most.
const supportTie = 1e-7

// MaxSupport solves like Vertex and then adds to Delta, with Part 0, every other pair that some
// optimum could use: mu_ij > 0, c_j > 0 and
//
//	y_i·mu_ij ≥ max_k y_k·mu_kj · (1 − 1e-7),
//
// which complementary slackness demands of a share that is not 0. The set of pairs is that of an
// interior optimum, which [1, section 3.4.5] uses because it is less sensitive to rates that are
// wrong: it leaves each class more machines to choose from, and has no values of its own. With ≥, on a
// machine that no bottleneck class can run every class that can run there ties at 0 and is in.
//
// Where several prices are optimal the set is that of the prices found: it holds every pair that an
// optimum can use, and perhaps some that none does.
func MaxSupport(p *Problem, b *Basis, ws *Workspace, sol *Solution) {
	in := &ws.groups.inner
	Vertex(p, b, ws, in)
	sol.Status, sol.Lambda, sol.Bound, sol.Pivots = in.Status, in.Lambda, in.Bound, in.Pivots
	sol.Price = append(sol.Price[:0], in.Price...)
	sol.Unrunnable = append(sol.Unrunnable[:0], in.Unrunnable...)
	sol.Delta = sol.Delta[:0]
	if in.Status == NoDemand || in.Status == NoMachine {
		return
	}
	ws.rows = ws.rows[:0]
	for i := range p.Alpha {
		ws.rows = append(ws.rows, int32(i))
	}
	maxRows(ws.a, p.Mu, sol.Price, ws.rows)
	at, m := 0, len(p.Cap)
	for j, c := range p.Cap {
		for i, y := range sol.Price {
			if at < len(in.Delta) && int(in.Delta[at].Machine) == j && int(in.Delta[at].Class) == i {
				sol.Delta = append(sol.Delta, in.Delta[at])
				at++
				continue
			}
			if mu := p.Mu[i*m+j]; mu > 0 && c > 0 && y*mu >= ws.a[j]*(1-supportTie) {
				sol.Delta = append(sol.Delta, Share{int32(i), int32(j), 0})
			}
		}
	}
}
