package paper

import (
	"math"
	"testing"
)

func TestWordsOfAClaim(t *testing.T) {
	same := func(x float64) []float64 { return []float64{x, x, x} }
	for _, c := range []struct {
		claim string
		of    [][]float64
		want  Verdict
		why   string
	}{
		{"a < b", [][]float64{same(99), same(100)}, Inside, "less by 1 %"},
		{"a < b", [][]float64{same(100), same(100)}, Departs, "the same is not less"},
		{"a < b", [][]float64{{90, 100, 107}, same(100)}, Undecided, "less on average"},
		{"a < b", [][]float64{{90, 100, 110}, {91, 101, 111}}, Inside, "less in each run"},
		{"a < b", [][]float64{{99}, {100}}, Undecided, "one run tells nothing"},
		{"a < b", [][]float64{{101}, {100}}, Departs, "but it can refute"},
		{"a slightly < b", [][]float64{same(95), same(100)}, Inside, "ahead by 5 %"},
		{"a slightly < b", [][]float64{same(80), same(100)}, Departs, "20 % are not slight"},
		{"a significantly < b", [][]float64{same(95), same(100)}, Departs, "5 % are comparable"},
		{"a significantly < b", [][]float64{same(89), same(100)}, Inside, "11 % are not"},
		{"a much < b", [][]float64{same(80), same(100)}, Departs, "20 % are not much"},
		{"a much < b", [][]float64{same(70), same(100)}, Inside, "30 % are"},
		{"a comparable to b", [][]float64{same(109), same(100)}, Inside, "9 % behind"},
		{"a comparable to b", [][]float64{same(111.2), same(100)}, Departs, "11.2 % behind"},
		{"a comparable to b", [][]float64{{96, 110, 118}, same(100)}, Undecided, "8 % behind, or 20 %"},
		{"a marginal to b", [][]float64{same(107), same(100)}, Departs, "7 % are not marginal"},
		{"a < b much < c", [][]float64{same(60), same(70), same(100)}, Inside, "both hold"},
		{"a < b much < c", [][]float64{same(60), same(80), same(100)}, Departs, "the second does not"},
	} {
		chain, err := readChain(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		if m := chain.judge(c.of); m.verdict != c.want {
			t.Errorf("%s: %s of %v is %s: want %s", c.why, c.claim, c.of, m.verdict, c.want)
		}
	}
}

// A departure stays unexplained where what is said to explain it departs, too.
func TestAnExplanationIsJudged(t *testing.T) {
	lines := func(value string) []string {
		return []string{
			"p. 1,one,mct,W,2.30,,3%,known,a reason,,a trial,2026-11-24,one met",
			"p. 1,one,met,W,2.30," + value + ",3%,gate,,changed"}
	}
	for interval, want := range map[string]Verdict{"1.80..2.40": Known, "": Departs} {
		r := mustRunTiny(t, lines(interval)...)
		if r.Lines[0].Verdict != want {
			t.Errorf("%s with an explanation that is %s: want %s", r.Lines[0].Says, r.Lines[1].Verdict, want)
		}
	}
}

// What was tried may compare other scenarios with each other: the figure is the same, and another figure is not.
func TestAnExplanationOfGrowth(t *testing.T) {
	for metric, want := range map[string]bool{"growth:CT/large@0.95": true, "growth:CT/large@0.9": true,
		"growth:WCT/large@0.95": false, "times:CT/large@0.95": false, "over:CT/cda": false} {
		if got := explains("small@0.95 cda", metric, "small@0.95", "cda", "", "growth:CT/large@0.9"); got != want {
			t.Errorf("%s explains growth:CT/large@0.9: %v, want %v", metric, got, want)
		}
	}
	if explains("small cda", "over:CT/rr", "small", "cda", "", "over:CT/cda") {
		t.Error("what is over another protocol's explains what is over this one's")
	}
}

func TestBetweenTwoRates(t *testing.T) {
	line := record{"source": "p. 1", "policy": "a", "metric": "between:low@1/high@2", "value": "100", "rule": "gate"}
	p, err := line.printed()
	if err != nil {
		t.Fatal(err)
	}
	if k := p.keys(); len(k) != 2 || k[0] != (key{"low@1", "a"}) || k[1] != (key{"high@2", "a"}) {
		t.Errorf("needs %v", k)
	}
	at := func(mean, half float64, stable bool) *ran {
		r := &ran{}
		r.Stable = stable
		r.W = estimate(mean, half)
		return r
	}
	for _, c := range []struct {
		low, high *ran
		want      Verdict
	}{
		{at(90, 5, true), at(110, 5, true), Inside},
		{at(90, 15, true), at(110, 5, true), Undecided},
		{at(90, math.NaN(), true), at(110, 5, true), Undecided},
		{at(70, 5, true), at(90, 5, true), Departs},
		{at(110, 5, true), at(130, 5, true), Departs},
		{at(90, 5, true), at(0, 0, false), Inside},
		{at(0, 0, false), at(0, 0, false), Departs},
	} {
		if m := p.between([]*ran{c.low, c.high}); m.verdict != c.want {
			t.Errorf("100 between %s: %s, want %s", m.text, m.verdict, c.want)
		}
	}
}
