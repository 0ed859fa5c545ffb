package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// printed is a number as it was printed, a line of numbers.csv.
type printed struct {
	Source   string // table and page
	Scenario string
	Policy   string
	Metric   string
	Value    string // as printed; empty where only an interval is, or nothing
	Interval string // "low..high" or "±0.5%", as printed
	rule     rule
	why      string

	text      string  // what is compared in words: unstable, a < b
	mid, half float64 // of the interval, or the value; with what rounding hides
	tolerance float64 // how far the middle may be missed
}

// rule is how a printed number is taken.
type rule string

const (
	gate    rule = "gate"    // has to be met
	full    rule = "full"    // has to be met in the full form, and is not looked at in the quick one
	known   rule = "known"   // is missed, and it is said why
	damaged rule = "damaged" // is not what the authors had, as far as one can tell
	report  rule = "report"  // there is none in print; ours is reported
	unrun   rule = "unrun"   // cannot be had from the simulator, and it is said why
)

var rules = []rule{gate, full, known, damaged, report, unrun}

func (r record) printed() (printed, error) {
	p := printed{Source: r["source"], Scenario: r["scenario"], Policy: r["policy"], Metric: r["metric"],
		Value: r["value"], Interval: r["interval"], rule: rule(r["rule"]), why: r["why"]}
	if !slices.Contains(rules, p.rule) {
		return p, fmt.Errorf("rule %q: want one of %v", p.rule, rules)
	}
	if p.why == "" && (p.rule == known || p.rule == damaged || p.rule == unrun) {
		return p, fmt.Errorf("rule %s: want a reason", p.rule)
	}
	if p.Source == "" {
		return p, fmt.Errorf("want a source")
	}
	if p.rule == report && p.Value == "" || p.rule == unrun {
		return p, nil
	}
	switch p.kind() {
	case "allot", "stable", "order", "asks", "little", "half", "ratios", "gaps", "rises", "most", "share", "growth":
		p.text = p.Value
		return p, nil
	}
	if err := p.numbers(); err != nil {
		return p, err
	}
	return p, p.allow(r["tolerance"])
}

// kind is the metric without what stands after a colon.
func (p *printed) kind() string {
	k, _, _ := strings.Cut(p.Metric, ":")
	return k
}

// rest is what stands after the colon.
func (p *printed) rest() string {
	_, r, _ := strings.Cut(p.Metric, ":")
	return r
}

// numbers reads value and interval. A number with d digits after the point stands for all within half a
// unit of the last.
func (p *printed) numbers() error {
	low, high, both := strings.Cut(p.Interval, "..")
	if both {
		lo, err := strconv.ParseFloat(low, 64)
		hi, err2 := strconv.ParseFloat(high, 64)
		if err != nil || err2 != nil || lo > hi {
			return fmt.Errorf("interval %q: want low..high", p.Interval)
		}
		p.mid, p.half = (lo+hi)/2, (hi-lo)/2+rounding(low)
		return nil
	}
	x, err := strconv.ParseFloat(p.Value, 64)
	if err != nil {
		return fmt.Errorf("value %q: want a number", p.Value)
	}
	p.mid, p.half = x, rounding(p.Value)
	if p.Interval != "" {
		part, err := percent(strings.TrimPrefix(p.Interval, "±"))
		if err != nil {
			return fmt.Errorf("interval %q: want low..high, or ±0.5%%", p.Interval)
		}
		p.half += part * math.Abs(x)
	}
	return nil
}

// rounding is half a unit of the last digit.
func rounding(t string) float64 {
	_, digits, _ := strings.Cut(t, ".")
	return 0.5 * math.Pow10(-len(digits))
}

// percent reads "5%" as 0.05.
func percent(t string) (float64, error) {
	n, ok := strings.CutSuffix(t, "%")
	x, err := strconv.ParseFloat(n, 64)
	if err != nil || !ok || x < 0 {
		return 0, fmt.Errorf("%q: want a percentage, as in 5%%", t)
	}
	return x / 100, nil
}

// allow reads a tolerance: a percentage of the number, or a number.
func (p *printed) allow(t string) error {
	if t == "" {
		return nil
	}
	if part, err := percent(t); err == nil {
		p.tolerance = part * math.Abs(p.mid)
		return nil
	}
	x, err := strconv.ParseFloat(t, 64)
	if err != nil || x < 0 {
		return fmt.Errorf("tolerance %q: want a percentage, as in 5%%, or a number", t)
	}
	p.tolerance = x
	return nil
}

// needs lists the policies whose runs a number takes.
func (p *printed) needs() []string {
	switch p.kind() {
	case "allot", "lambda", "load", "delta", "zeros", "nonzeros", "discount":
		return nil
	case "order":
		return strings.Split(p.text, " < ")
	case "improvement":
		return []string{p.Policy, p.rest()}
	case "share":
		_, other, _ := strings.Cut(p.rest(), "/")
		return []string{p.Policy, other}
	case "messages", "asks":
		return []string{p.Policy, "mct"}
	}
	return []string{p.Policy}
}

// keys lists the runs that a number takes; where it takes none, the system alone.
func (p *printed) keys() (out []key) {
	switch p.kind() {
	case "ratios", "gaps":
		for _, scenario := range strings.Split(p.text, " < ") {
			out = append(out, key{scenario, p.Policy}, key{scenario, p.rest()})
		}
		return out
	case "growth":
		_, other, _ := strings.Cut(p.rest(), "/")
		return []key{{p.Scenario, p.Policy}, {other, p.Policy}}
	}
	for _, policy := range p.needs() {
		out = append(out, key{p.Scenario, policy})
	}
	if out == nil {
		return []key{{scenario: p.Scenario}}
	}
	return out
}

// show is the number for people.
func (p *printed) show() string {
	if p.Interval == "" {
		return p.Value
	}
	if low, high, ok := strings.Cut(p.Interval, ".."); ok {
		return low + " – " + high
	}
	return p.Value + " " + strings.Replace(strings.Replace(p.Interval, "±", "± ", 1), "%", " %", 1)
}
