package lpas

import "math"

// search is the line search that everything else is made of. The prices of the classes R in w.rows
// rise together by a factor t; the other classes of the level (those with a finite w.yOther) stay.
// The dual along that line,
//
//	G(t) = Σ_j c_j·max(t·a_j, p_j) / (t·D_R + D_B),  a_j = max_{i in R} y_i·mu_ij,  p_j = y_o·mu_oj of owner o,
//
// is a convex function over a linear one. Machine j leaves the others at the ratio t = p_j/a_j, and G
// falls as long as what R owns, W_R, is worth less to its demand D_R than W_B is to D_B. So the
// machines are taken in the order of their ratios until W_R·D_B ≥ W_B·D_R: there the machine that
// would tip the balance is shared. This passes any number of breakpoints in one pivot.
//
// A machine that others share ends the search when it is reached: R joins those who share it.
//
// It returns the machine and the ratio. The machine is -1 if R took everything that it can run and is
// still the poorer side; the ratio is then that of the last machine taken. w.cand[:taken] are the
// machines that changed hands.
func (w *Workspace) search(wR, dR, wB, dB float64) (machine, taken int, t float64) {
	maxRows(w.a, w.mu, w.y, w.rows)
	a, r, rate := w.a, w.r[:len(w.a)], w.rate[:len(w.a)]
	for j, o := range w.owner[:len(a)] {
		r[j] = w.yOther[o] * rate[j] / a[j]
	}
	stop, end := -1, math.Inf(1)
	for _, e := range w.edges {
		if j := int(e.machine); r[j] < end {
			stop, end = j, r[j]
		}
	}
	reach := end * (1 + 1e-13) // what is taken beyond the end by this much is within rounding
	if stop < 0 {
		reach = math.MaxFloat64
	}
	deficit := wB*dR - wR*dB
	t = 1
	low := math.Inf(-1)
	for width := w.window; ; width *= 8 {
		high := 1 + width
		if width > 100*w.window || high > reach {
			high = reach
		}
		first := taken
		var sum float64
		for j, x := range r {
			if x <= high && x > low && w.deg[j] == 0 {
				w.cand = append(w.cand[:taken], int32(j))
				taken++
				sum += w.gain(j, dR, dB)
			}
		}
		if sum >= deficit && taken > first {
			k := first + w.cross(w.cand[first:taken], deficit, dR, dB)
			machine = int(w.cand[k])
			return machine, k, max(1, r[machine])
		}
		deficit -= sum
		for _, j := range w.cand[first:taken] {
			t = max(t, r[j])
		}
		if high == reach {
			break
		}
		low = high
	}
	if stop >= 0 {
		return stop, taken, max(1, end)
	}
	return -1, taken, t
}

// gain is by how much W_R·D_B − W_B·D_R grows when R takes machine j.
func (w *Workspace) gain(j int, dR, dB float64) float64 {
	a := w.a[j]
	return w.cap[j] * a * (dB + w.r[j]*dR)
}

// cross orders candidates by ratio as far as needed and returns the position of the one whose gain
// brings the sum to deficit; all before it come before it in the order. It is a selection by weight:
// each part keeps only the side that the answer is on.
func (w *Workspace) cross(cand []int32, deficit, dR, dB float64) int {
	base := 0
	for len(cand) > 12 {
		k := w.part(cand)
		var sum float64
		for _, j := range cand[:k] {
			sum += w.gain(int(j), dR, dB)
		}
		if sum >= deficit {
			cand = cand[:k]
		} else {
			deficit -= sum
			cand = cand[k:]
			base += k
		}
	}
	for i := 1; i < len(cand); i++ {
		for k := i; k > 0 && w.before(cand[k], cand[k-1]); k-- {
			cand[k], cand[k-1] = cand[k-1], cand[k]
		}
	}
	for k, j := range cand {
		deficit -= w.gain(int(j), dR, dB)
		if deficit <= 0 {
			return base + k
		}
	}
	return base + len(cand) - 1
}

// before orders by ratio; equal ratios by number, so that the order is one and the same everywhere.
func (w *Workspace) before(j, k int32) bool {
	x, y := w.r[j], w.r[k]
	return x < y || x == y && j < k
}

// part splits at the median of three: cand[:k] come before cand[k:], and neither part is empty.
func (w *Workspace) part(cand []int32) int {
	last := len(cand) - 1
	mid := last / 2
	if w.before(cand[mid], cand[0]) {
		cand[mid], cand[0] = cand[0], cand[mid]
	}
	if w.before(cand[last], cand[0]) {
		cand[last], cand[0] = cand[0], cand[last]
	}
	if w.before(cand[last], cand[mid]) {
		cand[last], cand[mid] = cand[mid], cand[last]
	}
	pivot := cand[mid]
	i, k := 0, last
	for {
		for w.before(cand[i], pivot) {
			i++
		}
		for w.before(pivot, cand[k]) {
			k--
		}
		if i >= k {
			return max(i, 1)
		}
		cand[i], cand[k] = cand[k], cand[i]
		i++
		k--
	}
}

// best is the class of w.rows to which machine j is worth most, the first of equals.
func (w *Workspace) best(j int) int32 {
	i, top := w.rows[0], -1.0
	for _, k := range w.rows {
		if v := w.y[k] * w.mu[int(k)*w.m+j]; v > top {
			i, top = k, v
		}
	}
	return i
}

// give makes class i the only owner of machine j.
func (w *Workspace) give(j int, i int32) {
	w.owner[j], w.rate[j] = i, w.mu[int(i)*w.m+j]
	w.s[i] += w.cap[j] * w.rate[j]
}

// take moves prices and machines to where the search ended.
func (w *Workspace) take(t float64, taken []int32) {
	for _, j := range taken {
		w.s[w.owner[j]] -= w.cap[j] * w.rate[j]
		w.give(int(j), w.best(int(j)))
	}
	for _, i := range w.rows {
		w.y[i] *= t
	}
	w.window = min(0.3, max(1e-4, 2*(t-1)))
}

// share gives the rising class to which machine j is worth most a part of it.
func (w *Workspace) share(j int) {
	i := w.best(j)
	if w.deg[j] == 0 {
		o := w.owner[j]
		w.s[o] -= w.cap[j] * w.rate[j]
		w.edges = append(w.edges, edge{o, int32(j)})
		w.deg[j] = 1
	}
	w.edges = append(w.edges, edge{i, int32(j)})
	w.deg[j]++
}
