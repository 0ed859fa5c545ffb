package knapsack

// Config bounds the work of a solution. Its zero value is the greedy pass alone.
type Config struct {
	// Beta is how much demand counts in the first greedy pass: options go by utility / (priced demand)^Beta. 1 is the
	// density of value, 0 the utility alone. What the prices find is not ordered by it.
	Beta float64

	// Rounds is how often prices are changed to lower the bound. More rounds, each as long as the list of demands, make
	// a closer bound; beyond some hundreds nothing is gained. 0 leaves the bound at what all items want most.
	Rounds int

	// Nodes bounds the nodes of the search for the optimum. 0 = none.
	Nodes int

	// Prices are where the prices begin, one for each capacity: those of the last solution, if the problem is nearly the
	// same. Nil = a unit of a capacity costs one over the mean demand of it.
	Prices []float64
}

// Default is thorough: some 100 passes over the problem, and the optimum of small ones.
func Default() Config { return Config{Beta: 1, Rounds: 100, Nodes: 20_000} }

// Result is a solution. Its slices are the solver's, until it solves the next problem.
type Result struct {
	Choice []int     // of each item: the index of its option, or −1
	Value  float64   // the utilities of the options chosen
	Bound  float64   // no solution has more
	Prices []float64 // of a unit of each capacity, with which Bound was found: what it is worth in utility
	Exact  bool      // Value is the optimum, to nine digits
	Nodes  int       // of the search
}

// Gap is by what part of the bound the optimum may be above the value.
func (r *Result) Gap() float64 {
	if !(r.Bound > 0) {
		return 0
	}
	return (r.Bound - r.Value) / r.Bound
}

// Solver solves problems one after the other. Its zero value can be used; it keeps memory between problems.
type Solver struct {
	p *Problem

	price  []float64 // of a whole capacity, while the prices are searched
	unit   []float64 // of a unit of each capacity
	least  []float64 // those with the least bound
	excess []float64 // the part of the capacity that is wanted in excess
	move   []float64 // where the prices went last
	bound  float64   // at the prices of least
	priced []float64 // by option: what its demand costs
	want   []int     // by item: the option that is best at the prices, −1 = none

	now, best plan
	order     []ranked
	changes   []change
	fewest    []float64 // by capacity: the least that an option wants
	gratis    bool      // an option wants nothing
	search    search
	result    Result
}

// plan is a solution, by the index of an option among all.
type plan struct {
	chosen []int
	used   []float64
	value  float64
}

func (a *plan) copy(b *plan) {
	a.chosen, a.used, a.value = append(a.chosen[:0], b.chosen...), append(a.used[:0], b.used...), b.value
}

// Solve solves a problem.
func (s *Solver) Solve(p *Problem, c Config) *Result {
	s.begin(p, c.Prices)
	s.greedy(c.Beta)
	s.best.copy(&s.now)
	s.bound = s.most()
	s.result.Nodes = 0
	s.descend(c.Rounds)
	s.result.Exact = s.bound <= s.best.value*(1+slack)
	if c.Nodes > 0 && !s.result.Exact {
		s.result.Nodes, s.result.Exact = s.exact(c.Nodes)
	}
	return s.finish()
}

func (s *Solver) begin(p *Problem, prices []float64) {
	s.p = p
	s.price, s.move = resized(s.price, len(p.capacity)), resized(s.move, len(p.capacity))
	s.excess, s.unit = resized(s.excess, len(p.capacity)), resized(s.unit, len(p.capacity))
	for k := range s.price {
		s.price[k], s.excess[k] = 0, 0
		if prices != nil {
			s.price[k] = prices[k] * p.capacity[k]
		}
	}
	if prices == nil {
		s.usual()
	}
	s.priced, s.want = resized(s.priced, len(p.utility)), resized(s.want, p.Items())
	s.least = append(s.least[:0], s.price...)
	clear(s.least)
}

// usual makes the prices those of [Config.Prices] where there are none: what options usually want of a capacity costs
// as much as of any other. So equal options cost the same on a large cluster as on a small one.
func (s *Solver) usual() {
	for _, d := range s.p.demands {
		s.price[d.Of] += d.Amount
		s.excess[d.Of]++
	}
	for k, c := range s.p.capacity {
		if s.price[k] > 0 {
			s.price[k] = c * s.excess[k] / s.price[k]
		}
	}
}

// most is the bound without prices: each item has its best option.
func (s *Solver) most() (sum float64) {
	for i := range s.p.first {
		best := 0.0
		for o, to := s.p.options(i); o < to; o++ {
			best = max(best, s.p.utility[o])
		}
		sum += best
	}
	return sum
}

func (s *Solver) finish() *Result {
	r, p := &s.result, s.p
	r.Choice, r.Prices = resized(r.Choice, p.Items()), resized(r.Prices, len(p.capacity))
	r.Value = 0 // anew: the plan's was added and taken away, and is rounded as often
	for i, o := range s.best.chosen {
		if r.Choice[i] = -1; o >= 0 {
			r.Choice[i] = o - p.first[i]
			r.Value += p.utility[o]
		}
	}
	for k, c := range p.capacity {
		if r.Prices[k] = 0; c > 0 {
			r.Prices[k] = s.least[k] / c
		}
	}
	if r.Bound = max(s.bound, r.Value); r.Exact {
		r.Bound = r.Value
	}
	s.p = nil
	return r
}

func resized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/4)
	}
	return x[:n]
}
