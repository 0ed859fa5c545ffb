package knapsack

import "math"

// How the prices move. A step is the part "far" of what would bring the bound down to the value of the best solution if
// the bound were a plane; after "patience" rounds without a lower bound the part is halved [3, section 4].
const (
	far      = 1.0
	patience = 5
	nearest  = 1e-4 // part from which steps are too short to gain anything
)

// takes is how often a plan is made of the prices while they move; one more is made of the best prices.
const takes = 4

// descend lowers the bound by moving the prices, and makes plans of them.
//
// With prices λ, bound(λ) = Σ_k λ_k capacity_k + Σ_i max(0, max_j (u_ij − Σ_k λ_k demand_ijk)). It is convex in λ, and
// what is wanted of a capacity beyond what there is, negated, is a subgradient.
func (s *Solver) descend(rounds int) {
	if rounds == 0 || len(s.p.first) == 0 {
		return
	}
	s.scale()
	part, failed := far, 0
	clear(s.move)
	for round := range rounds {
		bound := s.evaluate()
		if bound < s.bound {
			s.bound, failed = bound, 0
			copy(s.least, s.price)
		} else if failed++; failed == patience {
			part, failed = part/2, 0
			copy(s.price, s.least)
			clear(s.move)
			if part < nearest {
				break
			}
			continue
		}
		if round%(rounds/takes+1) == 0 {
			s.takeWanted()
		}
		if s.bound <= s.best.value*(1+slack) || !s.step(part, bound) {
			break
		}
	}
	copy(s.price, s.least)
	s.evaluate()
	s.takeWanted()
	s.exchange()
}

// scale makes the prices so that all capacities together cost the best value so far. What everybody wants would cost
// more, so the bound is finite and near.
func (s *Solver) scale() {
	sum := 0.0
	for _, x := range s.price {
		sum += x
	}
	if sum > 0 {
		for k := range s.price {
			s.price[k] *= s.best.value / sum
		}
	}
}

// alike is by what part of its utility an option may be worse than the best one to be as good.
const alike = 1e-2

// evaluate lets each item want its best option at the prices, and returns the bound. What is wanted in excess of each
// capacity is left in excess, as a part of it. Of options that are alike an item wants the one of which less is wanted
// so far: else all items would go from one of two equal clusters to the other in each round, and back.
func (s *Solver) evaluate() (bound float64) {
	p := s.p
	s.cost()
	for k, x := range s.price {
		bound += x
		s.excess[k] = -1
	}
	for i := range p.first {
		want, gain := -1, 0.0
		from, to := p.options(i)
		for o := from; o < to; o++ {
			if g := p.utility[o] - s.priced[o]; g > gain {
				want, gain = o, g
			}
		}
		if want >= 0 {
			bound += gain
			want = s.idlest(from, to, want, gain-alike*p.utility[want])
			for _, d := range p.of(want) {
				s.excess[d.Of] += d.Amount / p.capacity[d.Of] // above 0, since the option fits
			}
		}
		s.want[i] = want
	}
	return bound
}

// idlest is of the options that gain so much at least the one of whose capacities the least part is wanted so far.
func (s *Solver) idlest(from, to, want int, gain float64) int {
	least := math.Inf(1)
	for o := from; o < to; o++ {
		if s.p.utility[o]-s.priced[o] < gain {
			continue
		}
		most := math.Inf(-1)
		for _, d := range s.p.of(o) {
			most = max(most, s.excess[d.Of])
		}
		if most < least {
			want, least = o, most
		}
	}
	return want
}

// step moves the prices, none below 0. It reports whether there is a way to go. The way is the excess, turned by the
// way of before where they point apart, so that prices do not zigzag across a valley of the bound.
func (s *Solver) step(part, bound float64) bool {
	along, square := 0.0, 0.0
	for k, x := range s.excess {
		if s.price[k] == 0 && x < 0 {
			s.excess[k] = 0
		}
		along += s.excess[k] * s.move[k]
		square += s.move[k] * s.move[k]
	}
	turn := 0.0
	if along < 0 {
		turn = -1.5 * along / square
	}
	length := 0.0
	for k, x := range s.excess {
		s.move[k] = x + turn*s.move[k]
		length += s.move[k] * s.move[k]
	}
	if length == 0 {
		return false
	}
	by := part * (bound - s.best.value) / length
	for k, x := range s.move {
		s.price[k] = max(0, s.price[k]+by*x)
	}
	return true
}
