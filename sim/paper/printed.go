package paper

import (
	"fmt"
	"math"
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
	label    label

	text      string  // what is compared in words: unstable, a < b
	chain     chain   // of orders
	mid, half float64 // of the interval, or the value; with what rounding hides
	tolerance float64 // how far the middle may be missed
}

// rule is how a printed number is taken.
type rule string

const (
	gate    rule = "gate"    // has to be met
	full    rule = "full"    // has to be met in the full form, and is not looked at in the quick one
	known   rule = "known"   // is missed, and it is said what was tried and explains it
	open    rule = "open"    // is missed, and nothing that was run explains it
	damaged rule = "damaged" // cannot have been printed so
	report  rule = "report"  // there is none in print; ours is reported
	unrun   rule = "unrun"   // cannot be had from the simulator, and it is said why
)

var rules = []rule{gate, full, known, open, damaged, report, unrun}

func (r record) printed() (printed, error) {
	p := printed{Source: r["source"], Scenario: r["scenario"], Policy: r["policy"], Metric: r["metric"],
		Value: r["value"], Interval: r["interval"], rule: rule(r["rule"])}
	var err error
	if p.label, err = r.label(p.rule); err != nil {
		return p, err
	}
	if p.Source == "" {
		return p, fmt.Errorf("want a source")
	}
	if p.rule == report && p.Value == "" || p.rule == unrun {
		return p, nil
	}
	switch p.kind() {
	case "order":
		p.text = p.Value
		p.chain, err = readChain(p.text)
		return p, err
	case "allot", "stable", "asks", "little", "half", "ratios", "gaps", "rises", "most", "share", "growth":
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
	p.mid, p.half = x, p.rounding()
	if p.Interval != "" {
		part, err := percent(strings.TrimPrefix(p.Interval, "±"))
		if err != nil {
			return fmt.Errorf("interval %q: want low..high, or ±0.5%%", p.Interval)
		}
		p.half += part * math.Abs(x)
	}
	return nil
}

// shareDigits are those after the point of a share delta. The source prints four and leaves out the zeros at the end:
// its 0 is 0.0000, its 0.5 is 0.5000.
const shareDigits = 4

// rounding is what rounding hides of the value; nothing of a count.
func (p *printed) rounding() float64 {
	switch p.kind() {
	case "zeros", "nonzeros":
		return 0
	case "delta":
		return 0.5 * math.Pow10(-shareDigits)
	}
	return rounding(p.Value)
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
		return p.chain.names
	case "improvement":
		return []string{p.Policy, p.rest()}
	case "share", "over":
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
	case "between":
		low, high, _ := strings.Cut(p.rest(), "/")
		return []key{{low, p.Policy}, {high, p.Policy}}
	case "growth", "times":
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
