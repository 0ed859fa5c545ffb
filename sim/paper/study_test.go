package paper

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestStudiesAreWhole(t *testing.T) {
	want := []string{"class-based", "data", "dissemination", "faults", "forwarding", "gang-mapping", "gridx1", "knapsack",
		"lpas-cluster", "lpas-desktop", "lpas-grid", "mapping", "market", "sensitivity"}
	if got := Names(); !slices.Equal(got, want) {
		t.Fatalf("studies %v: want %v", got, want)
	}
	for _, name := range want {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for _, p := range s.numbers {
			used[p.Scenario] = true
		}
		for _, c := range s.curves {
			used[c.scenario] = true
		}
		for _, p := range s.numbers {
			grid, _, _ := strings.Cut(p.Scenario, "@")
			used[grid] = true
		}
		for file := range s.grids {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for file := range s.bags {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for file := range s.reallocations {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for file := range s.federations {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for file := range s.gangs {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for file := range s.systems {
			if !used[file] {
				t.Errorf("%s/systems/%s.yaml: nothing needs it", name, file)
			}
		}
		for _, r := range s.runs {
			if s.World != "" {
				continue // its source prints no lengths
			}
			asIn := map[float64]int{20_000: 30, 200_000: 30} // chapters 2 and 3; chapter 4
			if asIn[r.lengths[0].time] != r.lengths[0].replications && r.note == "" {
				t.Errorf("%s: the full form of %s is not that of the source, and no note says why", name, r.scenario)
			}
		}
	}
}

func TestUnknownStudy(t *testing.T) {
	if _, err := Load("lpas-moon"); err == nil || !strings.Contains(err.Error(), "lpas-grid") {
		t.Errorf("got %v: want an error that lists the studies", err)
	}
}

const columns = "source,scenario,policy,metric,value,interval,tolerance,rule,why,class,tried,since,by"

// tiny is a study of one M/M/1 queue: with half a load the completion time is 2 and there is 1 task inside.
func tiny(numbers ...string) fstest.MapFS {
	file := func(lines ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	return fstest.MapFS{
		"tiny/study.yaml": file("title: one queue", "source: a book"),
		"tiny/systems/one.yaml": file("name: one", "classes: [a]", "machines: [{name: m, count: 1}]", "mu: [[1]]",
			"alpha: [0.5]"),
		"tiny/runs.csv": file("scenario,policies,time,replications,quick_time,quick_replications,note",
			"one,mct met,20000,8,20000,8,"),
		"tiny/curves.csv": file("curve,title,scenario,policies,x,values,quick_values,time,replications,quick_time,"+
			"quick_replications",
			"w,W,one,mct,load,0.5 0.8,0.5,20000,8,20000,8"),
		"tiny/numbers.csv": file(append([]string{columns}, padded(numbers)...)...),
	}
}

// padded are lines with the last columns, which may be left out.
func padded(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, l+strings.Repeat(",", max(12-strings.Count(l, ","), 0)))
	}
	return out
}

func mustLoad(t *testing.T, from fstest.MapFS) *Study {
	t.Helper()
	s, err := load(from, "tiny")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRunTiny(t *testing.T, numbers ...string) *Report {
	t.Helper()
	r, err := mustLoad(t, tiny(numbers...)).Run(context.Background(), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRightNumbersPassAndWrongOnesDoNot(t *testing.T) {
	r := mustRunTiny(t,
		"p. 1,one,mct,W,2.00,,5%,gate,",
		"p. 1,one,mct,Q,1.00,,5%,gate,",
		"p. 1,one,mct,W:a,2.00,±1%,5%,gate,",
		"p. 1,one,merged,lambda,2.000,,,gate,",
		"p. 1,one,mct,stable,stable,,,gate,",
		"p. 2,one,mct,W,2.30,,3%,gate,",
		"p. 2,one,mct,Q,,0.80..0.85,3%,gate,",
		"p. 2,one,merged,lambda,2.001,,,gate,",
		"p. 2,one,mct,stable,unstable,,,gate,",
		"p. 3,one,mct,W,2.30,,3%,known,the clerk was tired,,a second clerk,2026-11-24,",
		"p. 3,one,mct,W,2.40,,3%,open,nobody knows,,,2026-11-24,",
		"p. 3,one,mct,W,2.00,,1%,gate,",
		"p. 4,one,mct,W,2.30,,3%,gate,,changed",
		"p. 4,one,mct,W,2.00,,5%,gate,,theory",
		"p. 3,one,mct,W,9.99,,,damaged,a smudge",
		"p. 3,one,mct,W,,,,report,",
		"p. 3,one,mct,guarded,0,,,unrun,nobody counts",
		"p. 3,one,mct,W,2.00,,3%,full,")
	want := map[string][]Verdict{
		"p. 1": {Inside, Inside, Inside, Inside, Inside},
		"p. 2": {Departs, Departs, Departs, Departs},
		"p. 3": {Known, Departs, Undecided, Damaged, Reported, NotRun, NotRun},
		"p. 4": {Departs, Inside},
	}
	got := map[string][]Verdict{}
	for _, l := range r.Lines {
		got[l.Source] = append(got[l.Source], l.Verdict)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts %v: want %v", got, want)
		for _, l := range r.Lines {
			t.Logf("%s %s: %s, ours %s: %s", l.Source, l.Metric, l.Published, l.Ours, l.Says)
		}
	}
	if r.Unnamed() != 5 || r.Counts[Departs] != 5 || r.Counts[Known] != 1 {
		t.Errorf("%d departures that nothing names, and %v: want 5 beside a known and an open one", r.Unnamed(), r.Counts)
	}
	if want := (Tally{Changed: {Departs: 1}, Theory: {Inside: 1}}); !reflect.DeepEqual(r.Apart, want) {
		t.Errorf("apart %v: want %v", r.Apart, want)
	}
	reason := "the clerk was tired; tried: a second clerk"
	if l := r.Lines[9]; !strings.Contains(l.Says, reason) || l.Since != "2026-11-24" {
		t.Errorf("%q does not give the reason, what was tried and the day", l.Says)
	}
}

func TestCurveAtALoad(t *testing.T) {
	r := mustRunTiny(t)
	p := r.Curves[0].Series[0].Points[0]
	if p.X != 0.5 || !p.Stable || math.Abs(p.Mean-2) > 3*p.Half || p.Half > 0.1 {
		t.Errorf("M/M/1 at load 0.5: %+v: want a mean of 2", p)
	}
}

func TestTheSameSeedGivesTheSame(t *testing.T) {
	a, b := mustRunTiny(t, "p. 1,one,mct,W,2.00,,3%,gate,"), mustRunTiny(t, "p. 1,one,mct,W,2.00,,3%,gate,")
	if !reflect.DeepEqual(a.Lines, b.Lines) || !reflect.DeepEqual(a.Curves, b.Curves) {
		t.Errorf("two runs of a seed differ:\n%+v\n%+v", a, b)
	}
}

func TestInterruptedSaysWhatIsMissing(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r, err := mustLoad(t, tiny("p. 1,one,mct,W,2.00,,3%,gate,", "p. 1,one,merged,lambda,2.000,,,gate,")).Run(ctx,
		Options{Seed: 3})
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("got %v, %v: want a report and that it was stopped", r, err)
	}
	if r.Lines[0].Verdict != NotRun || r.Lines[1].Verdict != Inside {
		t.Errorf("verdicts %s, %s: want not run, and inside for what needs no run", r.Lines[0].Verdict, r.Lines[1].Verdict)
	}
}

func TestMistakesInAFolder(t *testing.T) {
	for _, c := range []struct{ number, want string }{
		{"p. 1,two,mct,W,2,,,gate,", `no system "two"`},
		{"p. 1,one,olb,W,2,,,gate,", "needs a run under olb"},
		{"p. 1,one,mct,W,2,,,maybe,", `rule "maybe"`},
		{"p. 1,one,mct,W,2,,,known,", "want a reason"},
		{"p. 1,one,mct,W,2,,,known,a reason,,,2026-11-24,", "want what was tried"},
		{"p. 1,one,mct,W,2,,,known,a reason,,a trial,,", "want the day"},
		{"p. 1,one,mct,W,2,,,open,a reason,,,,", "want the day"},
		{"p. 1,one,mct,W,2,,,gate,,,,2026-11-24,", "is of the rules known and open"},
		{"p. 1,one,mct,W,2,,,known,a reason,,a trial,2026-11-24,two mct", `no line "two mct"`},
		{"p. 1,one,mct,W,2,,,gate,,altered,,,", `class "altered"`},
		{"p. 1,one,,order,mct by far < met,,,gate,", "with a relation between"},
		{"p. 1,one,,order,mct < met <,,,gate,", "want two names"},
		{"p. 1,one,mct,W,two,,,gate,", `value "two"`},
		{"p. 1,one,mct,W,,3..2,,gate,", `interval "3..2"`},
		{"p. 1,one,mct,W,2,±x%,,gate,", `interval "±x%"`},
		{"p. 1,one,mct,W,2,,lots,gate,", `tolerance "lots"`},
		{",one,mct,W,2,,,gate,", "want a source"},
	} {
		if _, err := load(tiny(c.number), "tiny"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v: want an error with %s", c.number, err, c.want)
		}
	}
}

func TestOnlyLeavesWhatItNames(t *testing.T) {
	for name, only := range map[string]string{"dissemination": "growth", "forwarding": "cold-1000", "class-based": "e3",
		"gang-mapping": "e4-jacobi-one", "knapsack": "e5-even", "lpas-grid": "4a"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		all := s.Numbers()
		if err := s.Only(only); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Numbers() == 0 || s.Numbers() >= all {
			t.Errorf("%s: %d of %d numbers are left of %s", name, s.Numbers(), all, only)
		}
		for _, r := range s.runs {
			if system, _, _ := strings.Cut(r.scenario, "@"); system != only {
				t.Errorf("%s: %s is still run", name, r.scenario)
			}
		}
	}
	s := mustLoad(t, tiny("p. 1,one,mct,W,2.00,,3%,gate,"))
	if err := s.Only("two"); err == nil || !strings.Contains(err.Error(), "want one of one") {
		t.Errorf("got %v: want an error that lists the systems", err)
	}
}

func TestGrowthIsJudgedByItsBar(t *testing.T) {
	p, err := record{"source": "ours", "scenario": "growth@1000", "policy": "a", "metric": "growth:W/growth@100",
		"value": "≤ 1.2", "rule": "gate"}.printed()
	if err != nil {
		t.Fatal(err)
	}
	if k := p.keys(); !slices.Equal(k, []key{{"growth@1000", "a"}, {"growth@100", "a"}}) {
		t.Errorf("needs %v", k)
	}
	for w, holds := range map[float64]bool{1.79: true, 1.81: false} {
		of := func(w float64) *ran { return &ran{figures: map[string][]float64{"W": {w, w}}} }
		m, err := p.from([]*ran{of(w), of(1.5)})
		if err != nil || m.verdict == Inside != holds {
			t.Errorf("%g over 1.5: %+v, %v: want it to hold: %v", w, m, err, holds)
		}
	}
}
