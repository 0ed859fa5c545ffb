package lpas

// Status says what a Solution is.
type Status uint8

const (
	// Optimal: Lambda is the optimum, to rounding.
	Optimal Status = iota
	// PivotCap: the pivots ran out. Delta is feasible and supports Lambda, the optimum lies between
	// Lambda and Bound, and the basis is as good a start for the next solve as any.
	PivotCap
	// NoDemand: no class has arrivals, so lambda has no bound. Lambda and Bound are +Inf, Delta is empty.
	NoDemand
	// NoMachine: no class that has arrivals can run anywhere. Lambda and Bound are 0, Delta is empty.
	NoMachine
)

func (s Status) String() string {
	switch s {
	case Optimal:
		return "optimal"
	case PivotCap:
		return "pivot cap"
	case NoDemand:
		return "no demand"
	case NoMachine:
		return "no machine"
	}
	return "unknown"
}

// Share is one delta_ij: how much of the capacity of Machine goes to Class. Part is in the units of
// Problem.Cap.
type Share struct {
	Class, Machine int32
	Part           float64
}

// Solution is what a solve returns. Its slices belong to it: they are overwritten, and grown when too
// small, by the next solve that is given the same Solution, and by nothing else. The zero value is
// ready for use.
type Solution struct {
	Status Status
	// Lambda is the factor by which all arrival rates could grow at once. 1/Lambda is the load of the
	// busiest machine; below 1 no policy can keep up [1, section 2.2].
	Lambda float64
	// Bound is the value of the dual at Price: no allocation reaches more. Equal to Lambda, up to
	// rounding, when Optimal.
	Bound float64
	// Delta has the shares, by machine and then by class.
	Delta []Share
	// Price has the dual y_i of every class row, in units of lambda for each task per unit of time:
	// Σ alpha_i·y_i = 1 and Bound = Σ_j c_j·max_i y_i·mu_ij. It is 0 for a class that is not a
	// bottleneck: more of it would cost the others nothing.
	Price []float64
	// Unrunnable lists the classes, ascending, that have arrivals and no machine with mu > 0 and
	// capacity > 0. With them the optimum would be 0, so they are left out of the problem.
	Unrunnable []int32
	// Pivots counts the line searches, one for each change of the basis.
	Pivots int
}
