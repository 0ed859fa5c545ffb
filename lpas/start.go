package lpas

// equal: two values within this part of each other are a tie.
const equal = 1e-12

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
	w.confirm(ties)
	w.sum()
	w.fresh = true
}

// sum computes what each class has for itself, and leaves out the machines that are of no use. It does so
// after the ties are known, since a large rate that is added and taken off again would leave its
// rounding.
func (w *Workspace) sum() {
	clear(w.s)
	s, m := w.s, len(w.owner)
	capacity, rate, deg, worth := w.cap[:m], w.rate[:m], w.deg[:m], w.a[:m]
	for j, o := range w.owner {
		if c := capacity[j]; c == 0 || worth[j] == 0 {
			w.owner[j], rate[j] = int32(len(s)), 1
		} else if deg[j] == 0 {
			s[o] += c * rate[j]
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
		if w.cap[j] == 0 || w.a[j] == 0 {
			continue
		}
		o := w.owner[j]
		if w.level[i] != w.level[o] {
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
