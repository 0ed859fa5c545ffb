package paper

import (
	"fmt"
	"math"
)

// Verdict is what came of a printed number.
type Verdict string

// The verdicts. A departure that the folder does not name fails the tests.
const (
	Inside    Verdict = "inside"    // all of our interval is in what is printed and allowed; in words: it holds for sure
	Undecided Verdict = "undecided" // our interval is too wide to tell, or there is none
	Departs   Verdict = "departs"   // outside for sure, and nothing that was run explains it
	Known     Verdict = "known"     // outside for sure, and what was tried explains it
	Damaged   Verdict = "damaged"   // not judged: it cannot have been printed so
	NotRun    Verdict = "not run"
	Reported  Verdict = "reported" // nothing is printed
)

// Verdicts lists them all, the worst first.
var Verdicts = []Verdict{Departs, Known, Undecided, Damaged, NotRun, Reported, Inside}

// Class is what a line compares. Only Described lines say how well a source is reproduced.
type Class string

// The classes.
const (
	Described Class = ""        // the system as the source describes it, with what is printed
	Changed   Class = "changed" // another system or another reading than the described one, with what is printed
	Theory    Class = "theory"  // with a formula or with what follows from the set-up; it is not in print
	Own       Class = "own"     // with an earlier run of ours, or with what is wanted of this project
)

// Classes lists them all.
var Classes = []Class{Described, Changed, Theory, Own}

// Line is a printed number with its verdict.
type Line struct {
	Source    string  `json:"source"`
	Scenario  string  `json:"scenario"`
	Policy    string  `json:"policy,omitempty"`
	Metric    string  `json:"metric"`
	Published string  `json:"published"`
	Ours      string  `json:"ours"`
	Mean      float64 `json:"mean,omitempty"`
	Half      float64 `json:"half,omitempty"` // of the 95 % interval; 0 where it is exact, or where there is none
	Verdict   Verdict `json:"verdict"`
	Deviation float64 `json:"deviation_pct,omitempty"` // of our mean from the printed one
	Says      string  `json:"says"`                    // the verdict in words
	Class     Class   `json:"class,omitempty"`
	Tried     string  `json:"tried,omitempty"` // what was run to explain a departure, and what came of it
	Since     string  `json:"since,omitempty"` // the day on which the folder named this departure
}

// judge compares what was measured with what was printed. Where err says why there is nothing to compare,
// so does the line.
func (p *printed) judge(m measured, err error, isFull bool) Line {
	l := Line{Source: p.Source, Scenario: p.Scenario, Policy: p.Policy, Metric: p.Metric,
		Published: p.show(), Class: p.label.class}
	switch {
	case err != nil:
		l.Verdict, l.Ours, l.Says = NotRun, "–", "not run: "+err.Error()
		return l
	case p.rule == full && !isFull:
		l.Verdict, l.Ours, l.Says = NotRun, "–", "not run: short runs cannot tell"
		return l
	case m.text != "":
		l.Ours, l.Verdict, l.Says = m.text, m.verdict, inWords(m.verdict)
	default:
		l.Ours, l.Mean = show(m.mean, m.half), m.mean
		if !math.IsNaN(m.half) {
			l.Half = m.half
		}
		if p.rule != report {
			l.Verdict = p.compare(m)
			l.Says = p.words(l.Verdict, m)
		}
		if p.rule != report && p.mid != 0 {
			l.Deviation = 100 * (m.mean - p.mid) / math.Abs(p.mid)
		}
	}
	p.label.apply(&l, p.rule)
	return l
}

// compare is the verdict on a number. With x ± h ours, p ± q printed, rounding included, and a tolerance of t,
//
//	inside    |x − p| + h ≤ q + t
//	departs   |x − p| − h > q + t
//
// and it is undecided between the two. One run has no h: it can depart, it cannot agree.
func (p *printed) compare(m measured) Verdict {
	allowed := (p.half + p.tolerance) * (1 + 1e-9)
	return within(math.Abs(m.mean-p.mid), m.half, math.Inf(-1), allowed)
}

// within is the verdict on x ± half, of which is said that it is from low to high. A half of NaN is none.
func within(x, half, low, high float64) Verdict {
	h := half
	if math.IsNaN(h) {
		h = 0
	}
	switch {
	case math.IsNaN(x):
		return Undecided
	case x+h < low || x-h > high:
		return Departs
	case math.IsNaN(half) || x-h < low || x+h > high:
		return Undecided
	}
	return Inside
}

// worst is the verdict on two statements together.
func worst(a, b Verdict) Verdict {
	if a == Departs || b == Departs {
		return Departs
	}
	if a == Undecided || b == Undecided {
		return Undecided
	}
	return Inside
}

func inWords(v Verdict) string {
	switch v {
	case Inside:
		return "holds"
	case Departs:
		return "does not hold"
	}
	return string(v)
}

func (p *printed) words(v Verdict, m measured) string {
	in := func(x float64) string {
		if p.mid != 0 {
			return fmt.Sprintf("%.1f %%", 100*x/math.Abs(p.mid))
		}
		return fmt.Sprintf("%.2g", x)
	}
	away := math.Abs(m.mean - p.mid)
	switch {
	case v == Inside && away > p.half:
		return fmt.Sprintf("inside: %s away, %s allowed", in(away), in(p.half+p.tolerance))
	case v == Departs:
		return "departs by " + in(away)
	case v == Undecided && math.IsNaN(m.half):
		return fmt.Sprintf("undecided: %s away, and one run has no interval", in(away))
	case v == Undecided:
		return fmt.Sprintf("undecided: %s ± %s away, %s allowed", in(away), in(m.half), in(p.half+p.tolerance))
	}
	return string(v)
}

// show is an estimate for people, with as many digits as it deserves.
func show(mean, half float64) string {
	if half == 0 || math.IsNaN(half) {
		return fmt.Sprintf("%.5g", mean)
	}
	digits := max(0, 2-int(math.Ceil(math.Log10(half))))
	digits = min(digits, 4)
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, half)
}
