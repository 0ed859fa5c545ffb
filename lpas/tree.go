package lpas

// tree is the elimination order of the ties of a level.
//
// At prices y every tie has y_i·mu_ij = p_j. If shares are counted by what they are worth,
// w_ij = delta_ij·p_j, the rates are gone: class i needs lambda·alpha_i·y_i, machine j has c_j·p_j, and
// w is a flow on a tree whose nodes are the classes and the shared machines. Leaves are solved for
// first. This is what the N×N working basis of a GUB simplex [3] comes to here, and solving with it
// takes O(N) operations.
type tree struct {
	// shared machines, by the order in which the edges name them
	local   []int32 // machine → position here
	machine []int32
	left    []float64 // worth that is not yet given away
	// degree, and exclusive or of the edges not yet removed: with degree 1 it is the edge itself
	degC, xorC, degM, xorM []int32
	need, sizeC, sizeM     []float64
	order                  []step
	stack                  []int32
	markM                  []bool
}

// step: a node that was a leaf and its last edge. A class hands its need to the machine, a machine
// what it has left to the class.
type step struct {
	edge    int32
	byClass bool
}

// slackOf is the rounding that a flow may carry, in parts of all that met below it.
const slackOf = 1e-11

// flows solves for the value of every tie of the level at its lambda and returns the edge with the
// most negative one, -1 if there is none. The class of the greatest demand is eliminated last, so that
// rounding gathers where it is smallest in proportion.
func (w *Workspace) flows(level int32) int {
	t := &w.tree
	t.degC, t.xorC = grown(t.degC, w.n), grown(t.xorC, w.n)
	t.need, t.sizeC = grown(t.need, w.n), grown(t.sizeC, w.n)
	t.local = grown(t.local, w.m)
	t.machine, t.left, t.sizeM = t.machine[:0], t.left[:0], t.sizeM[:0]
	t.degM, t.xorM = t.degM[:0], t.xorM[:0]
	t.order, t.stack = t.order[:0], t.stack[:0]
	w.flow, w.slack = grown(w.flow, len(w.edges)), grown(w.slack, len(w.edges))

	lambda := w.lambda[level]
	root, most := int32(-1), -1.0
	for i, l := range w.level {
		if l != level {
			continue
		}
		t.degC[i], t.xorC[i] = 0, 0
		want, has := lambda*w.alpha[i]*w.y[i], w.s[i]*w.y[i]
		t.need[i], t.sizeC[i] = want-has, want+has
		if v := w.alpha[i] * w.y[i]; v > most {
			root, most = int32(i), v
		}
	}
	for e, x := range w.edges {
		if w.level[x.class] != level {
			continue
		}
		k := t.local[x.machine]
		if int(k) >= len(t.machine) || k < 0 || t.machine[k] != x.machine {
			k = int32(len(t.machine))
			t.local[x.machine] = k
			t.machine = append(t.machine, x.machine)
			worth := w.cap[x.machine] * w.y[x.class] * w.mu[int(x.class)*w.m+int(x.machine)]
			t.left, t.sizeM = append(t.left, worth), append(t.sizeM, worth)
			t.degM, t.xorM = append(t.degM, 0), append(t.xorM, 0)
		}
		t.degM[k]++
		t.xorM[k] ^= int32(e)
		t.degC[x.class]++
		t.xorC[x.class] ^= int32(e)
	}
	for i, l := range w.level {
		if l == level && t.degC[i] == 1 && int32(i) != root {
			t.stack = append(t.stack, int32(i))
		}
	}
	worst, least := -1, 0.0
	for len(t.stack) > 0 {
		i := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if t.degC[i] != 1 {
			continue // it became the root of a tree of its own
		}
		e := t.xorC[i]
		k := t.local[w.edges[e].machine]
		w.flow[e], w.slack[e] = t.need[i], slackOf*t.sizeC[i]
		t.order = append(t.order, step{e, true})
		t.left[k] -= t.need[i]
		t.sizeM[k] += t.sizeC[i]
		t.degC[i] = 0
		t.degM[k]--
		t.xorM[k] ^= e
		if x := w.flow[e]; x < -w.slack[e] && x < least {
			worst, least = int(e), x
		}
		if t.degM[k] != 1 {
			continue
		}
		e = t.xorM[k]
		i = w.edges[e].class
		w.flow[e], w.slack[e] = t.left[k], slackOf*t.sizeM[k]
		t.order = append(t.order, step{e, false})
		t.need[i] -= t.left[k]
		t.sizeC[i] += t.sizeM[k]
		t.degM[k] = 0
		t.degC[i]--
		t.xorC[i] ^= e
		if x := w.flow[e]; x < -w.slack[e] && x < least {
			worst, least = int(e), x
		}
		if t.degC[i] == 1 && i != root {
			t.stack = append(t.stack, i)
		}
	}
	return worst
}

// below marks the classes that hang, in the elimination order, below the given edge: on the side of
// its class if the class was eliminated by it, else on the side of its machine. It reports which.
func (w *Workspace) below(e int) (classSide bool) {
	t := &w.tree
	clear(w.mark)
	t.markM = grown(t.markM, len(t.machine))
	clear(t.markM)
	for k := len(t.order) - 1; k >= 0; k-- {
		s := t.order[k]
		x := w.edges[s.edge]
		m := t.local[x.machine]
		switch {
		case int(s.edge) == e && s.byClass:
			w.mark[x.class], classSide = true, true
		case int(s.edge) == e:
			t.markM[m] = true
		case s.byClass:
			w.mark[x.class] = t.markM[m]
		default:
			t.markM[m] = w.mark[x.class]
		}
	}
	return classSide
}

// cut removes a tie. A machine that is left with one class is shared no longer.
func (w *Workspace) cut(e int) {
	j := w.edges[e].machine
	w.edges = append(w.edges[:e], w.edges[e+1:]...)
	w.deg[j]--
	w.single(j)
}

// single makes a machine with at most one tie an ordinary one. One with none keeps its owner.
func (w *Workspace) single(j int32) {
	for e := 0; e < len(w.edges); e++ {
		if x := w.edges[e]; x.machine == j {
			if w.deg[j] == 1 {
				w.edges = append(w.edges[:e], w.edges[e+1:]...)
				w.deg[j] = 0
				w.give(int(j), x.class)
			} else {
				w.owner[j], w.rate[j] = x.class, w.mu[int(x.class)*w.m+int(j)]
			}
			return
		}
	}
}

// reprice computes the prices of a level from its ties, root outwards, after flows has ordered them.
func (w *Workspace) reprice() {
	t := &w.tree
	t.left = grown(t.left, len(t.machine))
	for k := len(t.order) - 1; k >= 0; k-- {
		x := w.edges[t.order[k].edge]
		rate := w.mu[int(x.class)*w.m+int(x.machine)]
		m := t.local[x.machine]
		if t.order[k].byClass {
			w.y[x.class] = t.left[m] / rate
		} else {
			t.left[m] = w.y[x.class] * rate
		}
	}
}
