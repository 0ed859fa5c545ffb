package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"skep/balance/market"
)

func TestTablesAreWhole(t *testing.T) {
	rows := map[int]int{}
	for _, r := range Tables() {
		if rows[r.Figure]++; r.Figure < 66 && r.Number != rows[r.Figure] || r.Figure == 66 && r.Number != rows[66]+5 {
			t.Errorf("row %d of figure %d is its row %d", r.Number, r.Figure, rows[r.Figure])
		}
		if r.Purpose == 0 || r.Speeds == 0 || len(r.Ranks) == 0 {
			t.Errorf("row %d of figure %d: %+v", r.Number, r.Figure, r)
		}
		for _, rank := range r.Ranks {
			for _, p := range rank {
				if _, err := market.Parse(p); err != nil {
					t.Errorf("row %d of figure %d: %v", r.Number, r.Figure, err)
				}
			}
		}
	}
	if rows[63] != 17 || rows[64] != 9 || rows[65] != 5 || rows[66] != 15 {
		t.Errorf("rows by figure: %v", rows)
	}
}

// A system that is what a row is about gets that row and no other that is not about it too.
func TestARowIsForItsOwnSystem(t *testing.T) {
	for _, r := range Tables() {
		f := r.Features
		for k := range features { // one word of each
			w := features[k].of(&f)
			*w &= -*w
		}
		got := For(f)
		if len(got) == 0 || len(got[0].Differs) > 0 {
			t.Errorf("row %d of figure %d: %+v", r.Number, r.Figure, got)
			continue
		}
		if !slices.ContainsFunc(got, func(a Advice) bool { return a.Figure == r.Figure && a.Number == r.Number }) {
			t.Errorf("row %d of figure %d is not among those for its system: %+v", r.Number, r.Figure, got)
		}
	}
}

func TestForASystemBetweenRows(t *testing.T) {
	m := Measured{Servers: 32, Fastest: 4, Load: 0.95, Background: 0.5, Whole: 1, Delay: 0.02, Burst: 1, Spread: 10,
		Bids: 8}
	got := For(m.Features())
	var said []string
	for _, a := range got {
		said = append(said, fmt.Sprint(a.Figure, a.Number, a.Differs))
	}
	want := []string{"64 6 [delays none or low, not medium]", "64 9 [delays high, not medium]"}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if got := For(Features{}); got != nil {
		t.Errorf("without a purpose: %+v", got)
	}
}

func TestFeaturesOfNumbers(t *testing.T) {
	none := math.NaN()
	unknown := Measured{Fastest: none, Load: none, Background: none, Whole: none, Delay: none, Burst: none, Spread: none,
		Bids: none, Deadline: none, Worthless: none}
	if got, want := unknown.Features(), (Features{Purpose: Completion}); got != want {
		t.Errorf("nothing is known: %+v", got)
	}
	for _, x := range []struct {
		m    Measured
		want string
	}{
		{Measured{Servers: 109, Fastest: 1.9, Load: 0.49, Background: 0.24, Whole: 0.5, Delay: 0.009, Burst: 54, Spread: 1,
			Bids: 1},
			"completion - equal low few low none fine low - identical"},
		{Measured{Servers: 110, Fastest: 2, Load: 0.5, Background: 0.5, Whole: 0.6, Delay: 0.01, Burst: 55, Spread: 10,
			Bids: 2},
			"bids - unequal medium many medium medium coarse high - variable"},
		{Measured{Servers: 1, Fastest: 1, Load: 0.9, Background: 0.7, Delay: 0.05, Deadline: 1.1},
			"hard tight equal high few high high fine low - identical"},
		{Measured{Servers: 1, Fastest: 9, Deadline: 1.1}, "hard moderate unequal low few low none fine low - identical"},
		{Measured{Servers: 1, Fastest: 9, Deadline: 1.5}, "hard loose unequal low few low none fine low - identical"},
		{Measured{Servers: 1, Fastest: 1, Deadline: 1.1, Worthless: 2.05},
			"soft moderate equal low few low none fine low - identical"},
		{Measured{Servers: 1, Fastest: 1, Deadline: 1.1, Worthless: 2.05, Purpose: Hard},
			"hard tight equal low few low none fine low - identical"},
	} {
		f, words := x.m.Features(), []string{}
		for k := range features {
			s := features[k].text(*features[k].of(&f))
			if s == "" {
				s = "-"
			}
			words = append(words, s)
		}
		if got := strings.Join(words, " "); got != x.want {
			t.Errorf("%+v: %s, want %s", x.m, got, x.want)
		}
	}
}

// Nodes can do what any row of the tables names, without a matcher.
func TestSettings(t *testing.T) {
	for _, r := range Tables() {
		for _, rank := range r.Ranks {
			for _, p := range rank {
				if got, s := (&Row{Ranks: [][]string{{p}}}).FirstOnNodes(); got != p || len(s) == 0 {
					t.Errorf("%s: %q, %v", p, got, s)
				}
			}
		}
	}
	r := Row{Ranks: [][]string{{"another"}, {"psp", "hbp_t"}, {"cda"}}}
	if p, s := r.FirstOnNodes(); p != "psp" || !slices.Equal(s, []string{"policy: psp", "sharing: proportional"}) {
		t.Errorf("%s: %v", p, s)
	}
}
