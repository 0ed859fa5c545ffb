package utility

// Technique is what is done about failures of a task [1, chapter 7].
type Technique int

// The techniques.
const (
	None      Technique = iota // a failure is one of the task
	Retry                      // it is run again at once, at the same place
	Replicate                  // it runs twice, and one of both has to end
)

// Heuristic is what a task with a technique is valued by.
type Heuristic int

// The heuristics of [1, Table 7.1].
const (
	ByValue         Heuristic = iota // expected revenue
	ByValuePerCost                   // for a processor-second
	ByValuePerDelay                  // for a second of the response time
)

// Expected is the utility of a run that fails with probability f: (1 − f) u0 + f u1, with u0 where it does not fail and
// u1 where it does [1, equation 7.4].
func Expected(f, whole, failed float64) float64 { return (1-f)*whole + f*failed }

// OfTechnique is the utility of a task of length l under a technique by which its owner gives v, where it fails with
// probability f, once at most, halfway on the average [1, Table 7.1].
func OfTechnique(h Heuristic, q Technique, v, l, f float64) float64 {
	if q == None {
		if h == ByValue {
			return Expected(f, v, 0)
		}
		return Expected(f, v/l, 0)
	}
	switch {
	case h == ByValue:
		return Expected(f, v, v)
	case q == Retry: // costs half a run more, and takes it
		return Expected(f, v/l, v/(1.5*l))
	case h == ByValuePerCost: // two runs, of which one ends halfway
		return Expected(f, v/(2*l), v/(1.5*l))
	}
	return Expected(f, v/l, v/l)
}
