package lpas

// edge says that a class has a part of a shared machine. A machine that is not shared belongs to its
// owner and has no edge.
type edge struct{ class, machine int32 }

// Workspace is scratch for the solvers: about 4M + 20N numbers, grown when a problem needs more. One
// workspace may serve any number of problems and bases, one after the other; nothing that it holds
// between two solves has an influence on the second. It is not safe for concurrent use.
type Workspace struct {
	// MaxPivots ends a solve after that many line searches. 0 is 1000 + 50·(N+M), more than twenty
	// times what the hardest solves seen so far took. It counts work and not time, so that
	// the same problem has the same answer on every machine.
	MaxPivots int

	// Last is there for callers that read a solution at once and keep nothing of it.
	Last Solution

	n, m           int
	alpha, cap, mu []float64 // of the problem; mu is varied while perturbed

	// classes
	y      []float64 // price within the level
	s      []float64 // tasks per unit of time on the machines that the class has for itself
	level  []int32   // 0 first; -1: not in the problem
	yOther []float64 // N+1: y of the classes that can lose a machine in this line search, else +Inf
	mark   []bool    // subtree of a tie that is cut
	rows   []int32   // the classes whose prices rise
	link   []int32   // union-find

	// machines
	owner []int32   // N: none
	rate  []float64 // mu of the owner
	deg   []int32   // edges here
	a, r  []float64 // line search: value for the rising classes; ratio at which the machine joins them
	cand  []int32   // machines in the order in which they join

	edges []edge
	old   []edge
	flow  []float64 // of the edge, value: delta·y·mu
	slack []float64 // rounding that the flow may carry
	tree  tree

	levels  int
	open    []bool    // level has to be settled
	lambda  []float64 // of the level
	window  float64   // width of the last steps
	pivots  int
	stalled int       // line searches in a row that changed no price
	fresh   bool      // no pivot since prices and owners were computed from the rates
	real    []float64 // Problem.Mu
	varied  []float64
	variant uint64 // how often the rates were varied in this solve

	groups groups
}

// load makes the problem ready: arrays of the right length, classes without arrivals or machines out.
// It reports whether there is a class to solve for.
func (w *Workspace) load(p *Problem, sol *Solution) bool {
	w.n, w.m = len(p.Alpha), len(p.Cap)
	w.alpha, w.cap, w.mu, w.real = p.Alpha, p.Cap, p.Mu, p.Mu
	w.y, w.s, w.level, w.mark = grown(w.y, w.n), grown(w.s, w.n), grown(w.level, w.n), grown(w.mark, w.n)
	w.rows, w.link, w.yOther = grown(w.rows, w.n), grown(w.link, w.n), grown(w.yOther, w.n+1)
	w.owner, w.rate, w.deg = grown(w.owner, w.m), grown(w.rate, w.m), grown(w.deg, w.m)
	w.a, w.r, w.cand = grown(w.a, w.m), grown(w.r, w.m), grown(w.cand, w.m)
	w.edges = w.edges[:0]
	w.levels, w.pivots, w.stalled, w.fresh, w.variant = 1, 0, 0, false, 0
	w.open, w.lambda = append(w.open[:0], true), append(w.lambda[:0], 0)
	w.window = 0.05
	sol.Delta, sol.Price, sol.Unrunnable = sol.Delta[:0], sol.Price[:0], sol.Unrunnable[:0]
	sol.Pivots = 0

	demand, some := false, false
	for i, x := range w.alpha {
		w.level[i] = -1
		if !(x > 0) {
			continue
		}
		demand = true
		if w.runnable(i) {
			w.level[i], some = 0, true
		} else {
			sol.Unrunnable = append(sol.Unrunnable, int32(i))
		}
	}
	if !demand {
		sol.Status = NoDemand
	} else if !some {
		sol.Status = NoMachine
	}
	return some
}

func (w *Workspace) runnable(i int) bool {
	row := w.mu[i*w.m:][:w.m]
	for j, x := range row {
		if x > 0 && w.cap[j] > 0 {
			return true
		}
	}
	return false
}

func (w *Workspace) limit() int {
	if w.MaxPivots > 0 {
		return w.MaxPivots
	}
	return 1000 + 50*(w.n+w.m)
}

// members fills rows with the classes of a level.
func (w *Workspace) members(level int32) {
	w.rows = w.rows[:0]
	for i, l := range w.level {
		if l == level {
			w.rows = append(w.rows, int32(i))
		}
	}
}
