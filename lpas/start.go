package lpas

import "math"

// equal: two values within this part of each other are a tie.
const equal = 1e-12

// begin sets prices, levels, owners and ties from a basis as far as it holds for this problem, and
// from nothing else where it does not.
func (w *Workspace) begin(b *Basis) {
	known := 0
	w.levels = 1
	for i := range w.y {
		w.y[i] = 0
		if i < len(b.price) && i < len(b.level) && b.price[i] > 0 && b.price[i] <= math.MaxFloat64 {
			w.y[i] = b.price[i]
			if w.level[i] >= 0 && b.level[i] >= 0 {
				known++
				w.level[i] = b.level[i]
			}
		}
	}
	same := 0
	if known > 0 {
		same = copy(w.owner, b.owner)
	}
	for j := same; j < w.m; j++ {
		w.owner[j] = int32(w.n)
	}
	if known == 0 {
		w.guess()
		return
	}
	w.pack()
	w.adopt()
	w.assign(b.edges)
}

// pack numbers the levels 0, 1, … without gaps, in their order.
func (w *Workspace) pack() {
	w.levels = 0
	w.open, w.lambda = w.open[:0], w.lambda[:0]
	for {
		next, low := int32(w.levels), int32(math.MaxInt32)
		for _, l := range w.level {
			if l >= next {
				low = min(low, l)
			}
		}
		if low == math.MaxInt32 {
			return
		}
		for i, l := range w.level {
			if l == low {
				w.level[i] = next
			}
		}
		w.levels++
		w.open, w.lambda = append(w.open, true), append(w.lambda, 0)
	}
}

// adopt prices the classes that the basis did not know: each as high as it can be before it takes a
// machine from the others of level 0, so that it starts as the poorest.
func (w *Workspace) adopt() {
	w.rows = w.rows[:0]
	for i, l := range w.level {
		if l == 0 && w.y[i] > 0 {
			w.rows = append(w.rows, int32(i))
		}
	}
	missing := false
	for i, l := range w.level {
		missing = missing || l >= 0 && w.y[i] == 0
	}
	if !missing {
		return
	}
	maxRows(w.a, w.mu, w.y, w.rows)
	for i, l := range w.level {
		if l < 0 || w.y[i] > 0 {
			continue
		}
		y := math.Inf(1)
		for j, x := range w.mu[i*w.m:][:w.m] {
			if x > 0 && w.cap[j] > 0 && w.a[j] > 0 {
				y = min(y, w.a[j]/x)
			}
		}
		if math.IsInf(y, 1) {
			y = 1 // it shares no machine with those that are known: any price will do
		}
		w.y[i] = y
	}
}

// guess starts from nothing: the price of a class is the time that all machines together would take
// for one task of it.
func (w *Workspace) guess() {
	for i, l := range w.level {
		if l < 0 {
			continue
		}
		var sum float64
		for j, x := range w.mu[i*w.m:][:w.m] {
			sum += x * w.cap[j]
		}
		w.y[i] = 1 / sum
	}
	w.assign(nil)
}

// assign gives every machine to the class to which it is worth most at the current prices. The owner
// that it has, and each of the ties, are kept if they are within rounding of that.
func (w *Workspace) assign(ties []edge) {
	clear(w.deg)
	none := int32(w.n)
	for l := int32(0); int(l) < w.levels; l++ {
		w.members(l)
		worth, first := w.a, w.a
		if l > 0 {
			worth = w.r
		}
		maxRows(worth, w.mu, w.y, w.rows)
		m, mu, y, level := len(worth), w.mu, w.y, w.level
		owner, rate := w.owner[:m], w.rate[:m]
		first = first[:m]
		for j, v := range worth {
			if l > 0 {
				if first[j] > 0 {
					continue // an earlier level can run something here
				}
				first[j] = v
			}
			if v == 0 {
				continue
			}
			o := owner[j]
			if uint(o) < uint(len(y)) && level[o] == l {
				if x := mu[int(o)*m+j]; y[o]*x >= v*(1-equal) {
					rate[j] = x
					continue
				}
			}
			o = w.best(j)
			owner[j], rate[j] = o, mu[int(o)*m+j]
		}
	}
	for j, v := range w.a {
		if v == 0 || w.cap[j] == 0 {
			w.owner[j], w.rate[j] = none, 1
		}
	}
	w.confirm(ties)
	w.sum()
	w.fresh = true
}

// sum computes what each class has for itself. It does so at the end, since a large rate that is added
// and taken off again would leave its rounding.
func (w *Workspace) sum() {
	clear(w.s)
	s, m := w.s, len(w.owner)
	capacity, rate, deg := w.cap[:m], w.rate[:m], w.deg[:m]
	for j, o := range w.owner {
		if uint(o) < uint(len(s)) && deg[j] == 0 {
			s[o] += capacity[j] * rate[j]
		}
	}
}

// confirm makes those ties that still hold: both classes of one level, equal at the machine, and not
// connected in another way already. The owner of a shared machine always has a part of it.
func (w *Workspace) confirm(ties []edge) {
	w.old = append(w.old[:0], ties...) // ties may be w.edges
	w.edges = w.edges[:0]
	for i := range w.link {
		w.link[i] = int32(i)
	}
	for _, x := range w.old {
		i, j := x.class, x.machine
		if i < 0 || int(i) >= w.n || j < 0 || int(j) >= w.m {
			continue
		}
		o := w.owner[j]
		if int(o) == w.n || w.level[i] != w.level[o] {
			continue
		}
		if w.y[i]*w.mu[int(i)*w.m+int(j)] < w.y[o]*w.rate[j]*(1-equal) || !w.unite(i, o) {
			continue
		}
		if w.deg[j] == 0 {
			w.edges = append(w.edges, edge{o, j})
			w.deg[j] = 1
		}
		w.edges = append(w.edges, edge{i, j})
		w.deg[j]++
	}
}

// refresh computes everything from the rates and the ties alone, so that no rounding of the pivots
// before stays, and checks all machines against all classes again.
func (w *Workspace) refresh() {
	for l := range w.levels {
		w.flows(int32(l))
		w.reprice()
	}
	w.assign(w.edges)
}

// vary replaces every rate by one that is larger by a part of at most 1e-9, its own for each class and
// machine. Ties of more machines than a basis can hold then happen no more, and with them no pivot
// that changes no price, which is what a cycle is made of. The ties that solve the varied problem are
// then tried on the real one.
func (w *Workspace) vary() {
	w.variant++
	w.stalled = 0
	w.varied = grown(w.varied, len(w.real))
	for k, x := range w.real {
		z := (uint64(k) + w.variant<<32) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		w.varied[k] = x * (1 + 1e-9*float64(z>>11)/(1<<53))
	}
	w.mu = w.varied
	w.refresh()
}
