package lpas

import (
	"fmt"
	"math"
)

// Smallest and Largest bound every arrival rate, execution rate and capacity that is not zero.
// Products and quotients of a few such numbers stay inside float64 with room to spare; the unit of
// time is the caller's, so no real system comes near either end.
const (
	Smallest = 1e-60
	Largest  = 1e60
)

// Problem is the allocation LP of N classes on M machines [1, sections 2.2 and 3.2]:
//
//	maximise lambda
//	s.t.     Σ_j delta_ij·mu_ij ≥ lambda·alpha_i   for every class i
//	         Σ_i delta_ij       ≤ c_j              for every machine j
//	         delta_ij ≥ 0
//
// The solvers only read it.
type Problem struct {
	// Alpha has one entry for each class: its arrival rate over the whole system, tasks per unit of
	// time. A class with rate 0 asks for nothing: its row is vacuous and it gets no share.
	Alpha []float64
	// Cap has one entry for each machine: how much of it there is to share out. 1 is a machine that
	// runs one task at a time, s one with s slots, a fraction one that is available for that part of
	// the time [1, section 3.2]; 0 is a machine that is down.
	Cap []float64
	// Mu holds N·M execution rates, tasks per unit of time and unit of capacity, row by row: class i on
	// machine j is Mu[i*len(Cap)+j]. 0 says that the machine cannot run the class.
	Mu []float64
}

// Check reports the first entry that no allocation LP can have, by field, index and value, and says
// what would be right. The solvers expect a problem that passes: on wrong lengths they panic, on wrong
// values they end, since the pivots are capped, with a result that means nothing. Check makes a pass
// over Mu; who has checked rates on their way in need not check the problem.
func (p *Problem) Check() error {
	n, m := len(p.Alpha), len(p.Cap)
	if len(p.Mu) != n*m {
		return fmt.Errorf("lpas: Mu has %d entries; %d classes (len Alpha) on %d machines (len Cap) need %d, row by row",
			len(p.Mu), n, m, n*m)
	}
	if n > math.MaxInt32 || m > math.MaxInt32 {
		return fmt.Errorf("lpas: %d classes on %d machines; at most %d of either can be numbered", n, m, math.MaxInt32)
	}
	for i, x := range p.Alpha {
		if !fits(x) {
			return fmt.Errorf("lpas: Alpha[%d] is %v; an arrival rate is 0 or between %g and %g tasks per unit of time",
				i, x, Smallest, Largest)
		}
	}
	for j, x := range p.Cap {
		if !fits(x) {
			return fmt.Errorf("lpas: Cap[%d] is %v; a capacity is 0 or between %g and %g slots", j, x, Smallest, Largest)
		}
	}
	for k, x := range p.Mu {
		if !fits(x) {
			return fmt.Errorf("lpas: Mu[%d] (class %d on machine %d) is %v; an execution rate is 0 or between %g and %g "+
				"tasks per unit of time",
				k, k/m, k%m, x, Smallest, Largest)
		}
	}
	return nil
}

// fits is false for NaN, since every comparison with NaN is.
func fits(x float64) bool { return x == 0 || x >= Smallest && x <= Largest }
