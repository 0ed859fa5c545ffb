package paper

import (
	"math"
	"testing"
)

func TestVerdictOfAnInterval(t *testing.T) {
	number := func(value, interval, tolerance string) printed {
		p, err := record{"source": "p. 1", "metric": "W", "rule": "gate", "value": value, "interval": interval, "tolerance": tolerance}.printed()
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
		{number("0.23", "", "5%"), 0.2400, 0, Within, "4.3 % away"},
		{number("0.23", "", "5%"), 0.2470, 0, Departs, "7.4 % away, with 5 % allowed and 2.2 % of rounding"},
		{number("0.23", "", "5%"), 0.2470, 0.001, Within, "which our interval may be"},
		{number("0.23", "", "5%"), 0.2470, 0.1, TooWide, "but not if it may be anything"},
		{number("0.23", "", "5%"), 0.5000, 0.1, Departs, "except this"},
		{number("2.00", "±10%", ""), 2.2, 0.05, Inside, "inside the printed interval"},
		{number("", "10.00..12.00", ""), 12.5, 0.6, Inside, "the intervals meet"},
		{number("", "10.00..12.00", ""), 12.5, 0.4, Departs, "they do not"},
		{number("", "10.00..12.00", "30%"), 12.5, 0.4, Within, "and that is allowed"},
		{number("10.0", "", "5%"), 10.5, 2, TooWide, "an interval that holds everything says nothing"},
		{number("10.0", "", "5%"), 10.5, math.NaN(), Within, "one replication has no interval"},
		{number("0", "", ""), 0, 0, Inside, "a share of nothing"},
		{number("-156.41", "", "3"), -154, 0, Within, "a tolerance in units"},
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
