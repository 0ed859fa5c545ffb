package spread

import (
	"fmt"
	"math"
	"testing"
)

// BenchmarkSpreadBars compares the rules in bytes and errors. Run it with
//
//	go test ./sim/spread -run '^$' -bench Bars -benchtime 1x
func BenchmarkSpreadBars(b *testing.B) {
	for range b.N {
		var fixed []*Result
		worst := math.Inf(1) // bytes of the cheapest that errs nowhere more than the adaptive one
		a := mustRun(b, Changing("adaptive:0.04", 1))
		for _, rule := range Fixed() {
			r := mustRun(b, Changing(rule, 1))
			fixed = append(fixed, r)
			if r.most() <= a.most() {
				worst = min(worst, r.Bytes)
			}
			if testing.Verbose() {
				fmt.Printf("%-45s view %.4f, %.0f bytes a node and second\n", rule, r.View, r.Bytes)
			}
		}
		ratio := a.Bytes / Equal(fixed, a.View)
		report(fmt.Sprintf("adaptive over the best of %d fixed, bytes at a view error of %.3f", len(fixed), a.View), ratio,
			"≤ 0.8", ratio <= 0.8)
		report(fmt.Sprintf("the same at equal error in the worst quarter, %.3f", a.most()), a.Bytes/worst, "reported", true)
	}
}

// most is the largest error of a phase.
func (r *Result) most() (x float64) {
	for _, p := range r.Phases {
		x = max(x, p.View)
	}
	return x
}

func report(what string, got float64, bar string, pass bool) {
	verdict := "pass"
	if !pass {
		verdict = "MISS"
	}
	fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s\n", what, got, "", bar, verdict)
}
