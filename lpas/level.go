package lpas

import "math"

// A level is a set of classes whose prices are of one order, and the machines that they own. The prices
// of a level are worth nothing beside those of the one before it, so a machine belongs to the first
// level that can run anything on it. Level 0 has the bottleneck, and its lambda is that of the
// problem; each level after it shares what those before cannot use, for the largest lambda of its own.
// The result is the lexicographic max-min allocation, in which no class goes without.

// run settles levels until all are and their lambdas ascend. It is false if the pivots ran out.
func (w *Workspace) run() bool {
	for {
		for l := 0; l < w.levels; l++ {
			if w.open[l] && !w.settle(int32(l)) {
				return false
			}
		}
		l := 0
		for l+1 < w.levels && w.lambda[l+1] >= w.lambda[l]*(1-1e-10) {
			l++
		}
		if l+1 == w.levels {
			return true
		}
		if w.pivots >= w.limit() {
			return false
		}
		w.merge(int32(l))
	}
}

// worth is what the classes of a level own, and what they ask for, in their prices.
func (w *Workspace) worth(level int32) (has, wants float64) {
	for i, l := range w.level {
		if l == level {
			has += w.y[i] * w.s[i]
			wants += w.y[i] * w.alpha[i]
		}
	}
	for k := range w.edges {
		if w.firstOf(k) && w.level[w.edges[k].class] == level {
			has += w.worthOf(w.edges[k])
		}
	}
	return has, wants
}

func (w *Workspace) worthOf(x edge) float64 {
	return w.cap[x.machine] * w.y[x.class] * w.mu[int(x.class)*w.m+int(x.machine)]
}

// firstOf tells if edge k is the one that counts for its machine, the one of the machine's owner.
func (w *Workspace) firstOf(k int) bool {
	x := w.edges[k]
	return w.owner[x.machine] == x.class
}

// split keeps w.rows at the level and moves the rest of it to a new one after it.
func (w *Workspace) split(level int32) {
	for i, l := range w.level {
		if l > level || l == level && !math.IsInf(w.yOther[i], 1) {
			w.level[i]++
		}
	}
	w.levels++
	w.open = append(w.open, true)
	w.lambda = append(w.lambda, 0)
	copy(w.open[level+1:], w.open[level:])
	copy(w.lambda[level+1:], w.lambda[level:])
	w.open[level], w.open[level+1] = true, true
}

// merge corrects two neighbours in the wrong order: the second, which is the poorer, raises its
// prices from nothing against the first. Either a machine is shared and the two become one level, or
// the second takes all that it can run and goes first.
func (w *Workspace) merge(level int32) {
	next := level + 1
	w.members(next)
	w.others(level)
	// In the prices of its own level it may seem to have some machine already. Start where it has none.
	maxRows(w.a, w.mu, w.y, w.rows)
	near := math.Inf(1)
	for j, o := range w.owner {
		near = min(near, w.yOther[o]*w.rate[j]/w.a[j])
	}
	if !math.IsInf(near, 1) {
		for _, i := range w.rows {
			w.y[i] *= near
		}
	}
	wR, dR := w.worth(next)
	wB, dB := w.worth(level)
	for i, l := range w.level {
		if l > level {
			w.level[i]--
		}
	}
	w.levels--
	copy(w.open[next:], w.open[next+1:])
	copy(w.lambda[next:], w.lambda[next+1:])
	w.open, w.lambda = w.open[:w.levels], w.lambda[:w.levels]
	w.open[level] = true
	w.raise(level, wR, dR, wB, dB)
}
