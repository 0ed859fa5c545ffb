package lpas

import "math"

// settle solves a level: it joins trees of classes until they are one, then exchanges ties with a
// negative flow. Each step lets the prices of one side rise. It may hand classes to a new level after
// this one.
func (w *Workspace) settle(level int32) bool {
	for {
		has, wants := w.worth(level)
		w.lambda[level] = has / wants
		for i, l := range w.level {
			if l == level {
				w.y[i] /= wants
			}
		}
		has /= wants
		wR, dR, poor := w.poorest(level)
		if poor < 0 {
			e := w.flows(level)
			if e < 0 {
				if w.fresh {
					w.open[level] = false
					return true
				}
				w.refresh()
				continue
			}
			if w.pivots >= w.limit() {
				return false
			}
			wR, dR = w.divide(level, e)
		} else if w.pivots >= w.limit() {
			return false
		}
		w.raise(level, wR, dR, has-wR, 1-dR)
	}
}

// raise makes one pivot: the prices of w.rows rise until a machine is shared with the rest of the
// level, or until nothing that w.rows can run is left; then the rest becomes a level of its own.
func (w *Workspace) raise(level int32, wR, dR, wB, dB float64) {
	w.others(level)
	j, taken, t := w.search(wR, dR, wB, dB)
	w.take(t, w.cand[:taken])
	w.pivots++
	w.fresh = false
	if j >= 0 {
		w.share(j)
	} else {
		w.split(level)
	}
	if t > 1+1e-12 {
		w.stalled = 0
	} else if w.stalled++; w.stalled > 2*w.n+20 {
		w.vary()
	}
}

// others lets the classes of the level that are not in w.rows lose machines to those that are.
func (w *Workspace) others(level int32) {
	for i, l := range w.level {
		w.yOther[i] = math.Inf(1)
		if l == level {
			w.yOther[i] = w.y[i]
		}
	}
	w.yOther[w.n] = math.Inf(1)
	for _, i := range w.rows {
		w.yOther[i] = math.Inf(1)
	}
}

// poorest fills w.rows with the tree of classes that own least for their demand. It returns what they
// own and want, and -1 if the level is one tree or all its trees are equally well off.
func (w *Workspace) poorest(level int32) (has, wants float64, root int32) {
	trees := 0
	for i, l := range w.level {
		w.link[i] = int32(i)
		if l == level {
			trees++
		}
	}
	for k := range w.edges {
		x := w.edges[k]
		if w.level[x.class] == level && !w.firstOf(k) {
			trees--
			w.unite(x.class, w.owner[x.machine])
		}
	}
	if trees <= 1 {
		return 0, 0, -1
	}
	t := &w.tree
	t.need, t.sizeC = grown(t.need, w.n), grown(t.sizeC, w.n)
	clear(t.need)
	clear(t.sizeC)
	for i, l := range w.level {
		if l == level {
			r := w.find(int32(i))
			t.need[r] += w.y[i] * w.s[i]
			t.sizeC[r] += w.y[i] * w.alpha[i]
		}
	}
	for k, x := range w.edges {
		if w.level[x.class] == level && w.firstOf(k) {
			t.need[w.find(x.class)] += w.worthOf(x)
		}
	}
	root = -1
	least, uneven := math.Inf(1), false
	for i, l := range w.level {
		if l != level || w.link[i] != int32(i) {
			continue
		}
		own := t.need[i] / t.sizeC[i]
		if own < least {
			root, least = int32(i), own
		}
		// A tree that is rich and worth next to nothing hardly moves lambda, yet has to be joined.
		uneven = uneven || math.Abs(own-w.lambda[level]) > slackOf*max(own, w.lambda[level])
	}
	if !uneven {
		return 0, 0, -1
	}
	w.rows = w.rows[:0]
	for i, l := range w.level {
		if l == level && w.find(int32(i)) == root {
			w.rows = append(w.rows, int32(i))
		}
	}
	return t.need[root], t.sizeC[root], root
}

func (w *Workspace) find(i int32) int32 {
	for w.link[i] != i {
		w.link[i] = w.link[w.link[i]]
		i = w.link[i]
	}
	return i
}

// unite is false if the two were in one set already.
func (w *Workspace) unite(i, k int32) bool {
	i, k = w.find(i), w.find(k)
	w.link[max(i, k)] = min(i, k)
	return i != k
}

// divide cuts a tie with a negative flow and fills w.rows with the side of its machine: the class had
// to give back more than it got, so its side is the richer one.
func (w *Workspace) divide(level int32, e int) (has, wants float64) {
	classSide := w.below(e)
	w.cut(e)
	w.rows = w.rows[:0]
	for i, l := range w.level {
		if l == level && w.mark[i] != classSide {
			w.rows = append(w.rows, int32(i))
			has += w.y[i] * w.s[i]
			wants += w.y[i] * w.alpha[i]
		}
	}
	for k, x := range w.edges {
		if w.firstOf(k) && w.level[x.class] == level && w.mark[x.class] != classSide {
			has += w.worthOf(x)
		}
	}
	return has, wants
}
