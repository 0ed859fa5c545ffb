package paper

import (
	"math"
	"testing"
)

func TestVerdictOfAnInterval(t *testing.T) {
	share := func(value string) printed {
		p, err := record{"source": "p. 1", "metric": "delta:1:m", "rule": "gate", "value": value}.printed()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	number := func(value, interval, tolerance string) printed {
		p, err := record{"source": "p. 1", "metric": "W", "rule": "gate", "value": value, "interval": interval,
			"tolerance": tolerance}.printed()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		printed    printed
		mean, half float64
		want       Verdict
		why        string
	}{
		{number("0.23", "", ""), 0.2349, 0, Inside, "0.2349 prints as 0.23"},
		{number("0.23", "", ""), 0.2351, 0, Departs, "0.2351 does not"},
		{number("0.23", "", "5%"), 0.2400, 0, Inside, "4.3 % away"},
		{number("0.23", "", "5%"), 0.2400, 0.002, Inside, "which our interval leaves inside"},
		{number("0.23", "", "5%"), 0.2400, 0.01, Undecided, "and which it does not"},
		{number("0.23", "", "5%"), 0.2470, 0, Departs, "7.4 % away, with 5 % allowed and 2.2 % of rounding"},
		{number("0.23", "", "5%"), 0.2470, 0.001, Undecided, "which our interval may be"},
		{number("0.23", "", "5%"), 0.2470, 0.1, Undecided, "and if it may be anything"},
		{number("0.23", "", "5%"), 0.5000, 0.1, Departs, "except this"},
		{number("2.00", "±10%", ""), 2.1, 0.05, Inside, "inside the printed interval"},
		{number("2.00", "±10%", ""), 2.2, 0.05, Undecided, "at its edge"},
		{number("", "10.00..12.00", ""), 12.5, 0.6, Undecided, "the intervals meet"},
		{number("", "10.00..12.00", ""), 12.5, 0.4, Departs, "they do not"},
		{number("", "10.00..12.00", "30%"), 12.5, 0.4, Inside, "and that is allowed"},
		{number("10.0", "", "5%"), 10.0, 6.27, Undecided, "an interval of 62.7 % is not within 5 %, wherever its middle is"},
		{number("10.0", "", "50%"), 10.0, 6.27, Undecided, "nor within 50 %"},
		{number("10.0", "", "5%"), 10.4, math.NaN(), Undecided, "one replication has no interval, and cannot agree"},
		{number("10.0", "", "5%"), 20.0, math.NaN(), Departs, "but it can depart"},
		{number("-156.41", "", "3"), -154, 0, Inside, "a tolerance in units"},
		{share("0"), 0, 0, Inside, "a share of nothing"},
		{share("0"), 4e-5, 0, Inside, "prints as 0.0000"},
		{share("0"), 1e-4, 0, Departs, "prints as 0.0001"},
		{share("0"), 0.49, 0, Departs, "half of all is not nothing"},
		{share("1"), 0.51, 0, Departs, "nor is it all"},
		{share("1"), 0.9999, 0, Departs, "prints as 0.9999"},
		{share("0.5"), 0.5001, 0, Departs, "prints as 0.5001"},
	} {
		l := c.printed.judge(measured{mean: c.mean, half: c.half}, nil, true)
		if l.Verdict != c.want {
			t.Errorf("%s: printed %s, ours %s: %s: want %s", c.why, l.Published, l.Ours, l.Says, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		mean, half float64
		want       string
	}{
		{0.21640, 0.0024, "0.2164 ± 0.0024"},
		{97.22, 15.8, "97 ± 16"},
		{1.344912, 0, "1.3449"},
		{3652.3, 220, "3652 ± 220"},
	} {
		if got := show(c.mean, c.half); got != c.want {
			t.Errorf("show(%v, %v) = %q: want %q", c.mean, c.half, got, c.want)
		}
	}
}

// A figure over another protocol's is compared run by run, over that in another scenario with both intervals.
func TestFigureOverAnother(t *testing.T) {
	a := &ran{figures: map[string][]float64{"CT": {2, 4}}}
	b := &ran{figures: map[string][]float64{"CT": {1, 2}}}
	for metric, half := range map[string]float64{"over:CT/cda": 0, "times:CT/other@0.9": 11.98} {
		p, err := record{"source": "s", "scenario": "one@0.9", "policy": "rr", "metric": metric, "value": "2",
			"rule": "gate"}.printed()
		if err != nil {
			t.Fatal(err)
		}
		if k := p.keys(); len(k) != 2 || k[0] != (key{"one@0.9", "rr"}) {
			t.Errorf("%s needs %v", metric, k)
		}
		m, err := p.from([]*ran{a, b})
		if p.kind() == "times" { // as with more runs of the one
			more := &ran{figures: map[string][]float64{"CT": {1, 1, 2, 2}}}
			if n, err := p.from([]*ran{a, more}); err != nil || n.mean != 2 || !(n.half < m.half) {
				t.Errorf("%s of 2 runs over 4: %+v, %v: want 2 with less than %g", metric, n, err, m.half)
			}
		}
		if err != nil || m.mean != 2 || math.Abs(m.half-half) > 0.01 {
			t.Errorf("%s: %+v, %v: want 2 ± %g", metric, m, err, half)
		}
	}
}
