package paper

import (
	"fmt"
	"math"
)

// Verdict is what came of a printed number.
type Verdict string

// The verdicts. Only Departs counts against the simulator.
const (
	Inside   Verdict = "inside"   // the intervals meet; in words: it holds
	Within   Verdict = "within"   // they do not, and the difference may be as small as is allowed
	Departs  Verdict = "departs"  // it is larger for sure, and nobody says why
	Known    Verdict = "known"    // it is larger for sure, and it is said why
	TooWide  Verdict = "too wide" // neither can be told from Departs: ours is wider than twice what is allowed
	Damaged  Verdict = "damaged"  // not judged: what is printed cannot be right
	NotRun   Verdict = "not run"
	Reported Verdict = "reported" // nothing is printed
)

// Verdicts lists them all, the worst first.
var Verdicts = []Verdict{Departs, Known, TooWide, Damaged, NotRun, Reported, Within, Inside}

// Line is a printed number with its verdict.
type Line struct {
	Source    string  `json:"source"`
	Scenario  string  `json:"scenario"`
	Policy    string  `json:"policy,omitempty"`
	Metric    string  `json:"metric"`
	Published string  `json:"published"`
	Ours      string  `json:"ours"`
	Mean      float64 `json:"mean,omitempty"`
	Half      float64 `json:"half,omitempty"` // of the 95 % interval; 0 where it is exact
	Verdict   Verdict `json:"verdict"`
	Deviation float64 `json:"deviation_pct,omitempty"` // of our mean from the printed one
	Says      string  `json:"says"`                    // the verdict in words
}

// judge compares what was measured with what was printed. Where err says why there is nothing to compare,
// so does the line.
func (p *printed) judge(m measured, err error, isFull bool) Line {
	l := Line{Source: p.Source, Scenario: p.Scenario, Policy: p.Policy, Metric: p.Metric, Published: p.show()}
	switch {
	case err != nil:
		l.Verdict, l.Ours, l.Says = NotRun, "–", "not run: "+err.Error()
		return l
	case p.rule == full && !isFull:
		l.Verdict, l.Ours, l.Says = NotRun, "–", "not run: short runs cannot tell"
		return l
	case m.text != "":
		l.Ours = m.text
		l.Verdict, l.Says = Inside, "holds"
		if !m.holds {
			l.Verdict, l.Says = Departs, "departs"
		}
	default:
		l.Ours, l.Mean = show(m.mean, m.half), m.mean
		if !math.IsNaN(m.half) {
			l.Half = m.half
		}
		if p.rule != report {
			l.Deviation = 100 * (m.mean - p.mid) / math.Abs(p.mid)
			l.Verdict = p.compare(m)
			l.Says = p.words(l.Verdict, m)
		}
		if p.mid == 0 {
			l.Deviation = 0
		}
	}
	p.excuse(&l)
	return l
}

// compare is the verdict on a number: it departs only where the difference is larger than allowed for all that
// the intervals leave open.
func (p *printed) compare(m measured) Verdict {
	half := m.half
	if math.IsNaN(half) {
		half = 0
	}
	away, noise := math.Abs(m.mean-p.mid), (half+p.half)*(1+1e-9)
	switch {
	case away > noise+p.tolerance:
		return Departs
	case away <= p.tolerance && away > noise:
		return Within
	case half > 2*max(p.tolerance, p.half):
		return TooWide
	case away > noise:
		return Within
	}
	return Inside
}

func (p *printed) words(v Verdict, m measured) string {
	away := math.Abs(m.mean - p.mid)
	by := fmt.Sprintf("%.2g", away)
	if p.mid != 0 {
		by = fmt.Sprintf("%.1f %%", 100*away/math.Abs(p.mid))
	}
	switch v {
	case Within:
		return "within " + by
	case Departs:
		return "departs by " + by
	case TooWide:
		return fmt.Sprintf("too wide to tell: our mean is %s away", by)
	}
	return string(v)
}

// excuse applies the rule to a verdict.
func (p *printed) excuse(l *Line) {
	switch p.rule {
	case report:
		l.Verdict, l.Says = Reported, "reported"
		if p.why != "" {
			l.Says += ": " + p.why
		}
	case damaged:
		l.Says = fmt.Sprintf("damaged in print: %s; ours %s", p.why, l.Says)
		l.Verdict = Damaged
	case known:
		if l.Verdict == Departs {
			l.Says += ": " + p.why
			l.Verdict = Known
		}
	}
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
