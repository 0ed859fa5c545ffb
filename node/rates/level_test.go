package rates

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// level returns the k-th level of class sh.
func level(k int) string { return fmt.Sprintf("process:sh%s%08x", grid.LevelMark, k) }

// run has an estimator see runs of a level, one a second.
func run(e *Estimator, now *grid.Time, name string, times int, seconds func() float64) {
	var fx grid.Effects
	for range times {
		*now = now.Add(time.Second)
		e.Ran(*now, name, seconds(), &fx)
	}
}

func always(seconds float64) func() float64 { return func() float64 { return seconds } }

// mixed has tasks of two levels, of 0.05 and of 3 s, arrive and run.
func mixed(e *Estimator, now *grid.Time, level func(int) string) {
	e.Arrive(*now, level(1), job, 30)
	e.Arrive(*now, level(2), job, 10)
	run(e, now, level(1), 20, always(0.05))
	run(e, now, level(2), 20, always(3))
}

// Short and long texts of one program do not share an estimate: each is expected to take what it took, and a text that
// has not run is expected to take what the program's tasks took lately, with a spread that says how little that is.
func TestLevelsHaveEstimatesOfTheirOwn(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	run(e, &now, level(1), 60, always(0.05))
	run(e, &now, level(2), 12, always(3))
	for k, want := range []float64{0, 0.05, 3} {
		if mean, scv := e.RunTime(level(k), nobody); k > 0 && (math.Abs(mean/want-1) > 0.01 || scv > 0.01) {
			t.Errorf("level %d: %g s ± %g, want %g", k, mean, scv, want)
		} else if k == 0 && (mean < 1 || mean > 3 || scv < 0.5) {
			t.Errorf("a new text: %g s ± %g, want between what others took, and a large spread", mean, scv)
		}
	}
	if n := e.RunsOf(level(1)); n != 1/meanWeight {
		t.Errorf("the estimate rests on %d runs", n)
	}
}

// Below minLevelResults a level has the estimate of its class.
func TestFewResultsAreNoEstimate(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	run(e, &now, level(1), 20, always(1))
	run(e, &now, level(2), minLevelResults-1, always(9))
	class, _ := e.RunTime("process:sh", nobody)
	if mean, _ := e.RunTime(level(2), nobody); mean != class {
		t.Errorf("%g s after %d results, want the class's %g", mean, minLevelResults-1, class)
	}
	run(e, &now, level(2), 1, always(9))
	if mean, _ := e.RunTime(level(2), nobody); math.Abs(mean-9) > 0.1 {
		t.Errorf("%g s after %d results, want 9", mean, minLevelResults)
	}
}

// The credibility formula of [2], with numbers worked by hand: M = 4, levels (n 10, mean 2, s² 10) and (n 5, mean 8,
// s² 20): a = ((4 + 16) − (1 + 4))/2 = 7.5, Z₁ = 7.5/(7.5+1) and Z₂ = 7.5/(7.5+4).
func TestCredibility(t *testing.T) {
	e := measuring()
	set := func(name string, n, mean, variance float64) {
		c := e.class(name)
		c.runs, c.seconds, c.runSCV = n, mean, variance/(mean*mean)
	}
	set("process:sh", 10, 4, 9)
	set(level(1), 10, 2, 10)
	set(level(2), 5, 8, 20)
	z1, z2 := 7.5/8.5, 7.5/11.5
	for k, want := range map[int]sample{
		1: {10, z1*2 + (1-z1)*4, z1*10 + (1-z1)*9 + z1*(1-z1)*4},
		2: {5, z2*8 + (1-z2)*4, z2*20 + (1-z2)*9 + z2*(1-z2)*16},
	} {
		got := e.estimate(level(k), runsOf)
		if got.n != want.n || math.Abs(got.mean-want.mean) > 1e-9 || math.Abs(got.variance-want.variance) > 1e-9 {
			t.Errorf("level %d: %+v, want %+v", k, got, want)
		}
	}
}

// Levels are told only where they explain the spread: the same exponential run times under two texts are one class,
// 0.05 s and 3 s are two rates beside the class's, and α is divided between them. Where they have become alike they are
// told as one again.
func TestLevelsAreToldWhereTheyExplainTheSpread(t *testing.T) {
	alike, now, r := measuring(), grid.Time(1), grid.NewRand(3, 1)
	for range 200 {
		run(alike, &now, level(1), 1, r.ExpFloat64)
		run(alike, &now, level(2), 1, r.ExpFloat64)
		now = now.Add(time.Second)
		alike.Publish(now)
		own, _ := alike.Published()
		if len(own) != 1 || own[0].Class != "process:sh" || alike.Told(level(1)) != "process:sh" {
			t.Fatalf("equal levels are told as %v", own)
		}
	}
	e := measuring()
	mixed(e, &now, level)
	e.Publish(now.Add(time.Second))
	own, _ := e.Published()
	if len(own) != 3 || own[1].Class != level(1) || own[2].Class != level(2) || e.Told(level(2)) != level(2) ||
		e.Told(level(3)) != "process:sh" {
		t.Fatalf("told %v", own)
	}
	if rest := own[0].Alpha / own[1].Alpha; math.Abs(own[1].Alpha/own[2].Alpha-3) > 1e-6 || rest > 1e-3 {
		t.Errorf("told %v: want α 3 to 1, and next to none of other texts", own)
	}
	if math.Abs(own[1].Mu-20) > 0.5 || math.Abs(own[2].Mu-1./3) > 0.01 {
		t.Errorf("told %v: want μ of 20 and 1/3", own)
	}
	for range 60 {
		run(e, &now, level(1), 1, always(3))
		run(e, &now, level(2), 1, always(3))
	}
	e.Publish(now.Add(time.Second))
	if own, _ := e.Published(); len(own) != 1 {
		t.Errorf("levels that have become alike are told as %v", own)
	}
}

// A node tells no more rates than before: where the levels have no room, classes are told.
func TestLevelsDoNotCrowdOutClasses(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	for k := range maxLevels {
		e.Arrive(now, level(k), job, 10)
		run(e, &now, level(k), 10, always(float64(k+1)))
	}
	run(e, &now, "process:other", 10, always(1))
	e.Publish(now.Add(time.Second))
	own, _ := e.Published()
	if len(own) != 2 || own[0].Class != "process:other" || own[1].Class != "process:sh" {
		t.Errorf("told %v, want the two classes", own)
	}
}

// Whoever has a node run ever new scripts fills no table with them: they evict each other, not the classes, nor the
// levels that are in use and known.
func TestLevelsAreBounded(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	run(e, &now, level(0), 10, always(2))
	run(e, &now, "process:other", 10, always(1))
	var fx grid.Effects
	for k := range 20_000 {
		e.Ran(now.Add(time.Duration(k)*time.Millisecond), level(k+1), 1, &fx)
		e.Arrive(now, fmt.Sprintf("process:p%d%s%08x", k%20, grid.LevelMark, k), job, 1)
	}
	finer := 0
	for _, c := range e.classes {
		if _, ok := grid.ClassOfLevel(c.name); ok {
			finer++
		}
	}
	if len(e.classes) > maxClasses || finer > maxAllLevels || len(e.levels("process:sh")) > maxLevels {
		t.Errorf("%d classes, of them %d levels, %d of one class", len(e.classes), finer, len(e.levels("process:sh")))
	}
	if e.Class(level(0)) == nil || e.Class("process:other") == nil {
		t.Error("a known level or a class was evicted")
	}
	for _, rec := range fx.Saves {
		if _, ok := grid.ClassOfLevel(rec.Class.Class); ok && !rec.Delete {
			t.Fatalf("a script that ran once is written to disk: %+v", rec.Class)
		}
	}
}

// A level's record is one of a class by its name, as older versions read and write it.
func TestLevelsAreRestored(t *testing.T) {
	e, now, fx := measuring(), grid.Time(1), grid.Effects{}
	for range minLevelResults {
		e.Ran(now, level(1), 0.05, &fx)
		e.Ran(now, level(2), 3, &fx)
	}
	again := measuring()
	for i := range fx.Saves {
		again.Restore(&fx.Saves[i].Class)
	}
	for k, want := range map[int]float64{1: 0.05, 2: 3} {
		if mean, _ := again.RunTime(level(k), nobody); math.Abs(mean/want-1) > 0.1 {
			t.Errorf("level %d after a restart: %g s, want %g", k, mean, want)
		}
	}
}

// Names of levels as earlier versions made them are forgotten, on disk too: as classes they would be told to others for
// ever. A class that the submitter named is none of them.
func TestEarlierLevelsAreForgotten(t *testing.T) {
	e, fx, own := measuring(), grid.Effects{}, "sweep#20240101"
	for _, name := range []string{"process:sh#1a2b3c4d", "process:sh", own} {
		e.Restore(&grid.ClassRecord{Class: name, Mean: 7, Count: 10})
	}
	if len(e.classes) != 2 || e.Class(own).Runs() == 0 {
		t.Fatalf("%d classes, want the two", len(e.classes))
	}
	e.Ran(1, "process:other", 1, &fx)
	deleted := 0
	for _, rec := range fx.Saves {
		if rec.Delete && rec.Class.Class == "process:sh#1a2b3c4d" {
			deleted++
		}
	}
	if deleted != 1 {
		t.Errorf("its record is deleted %d times: %+v", deleted, fx.Saves)
	}
}

// Classes that a submitter named have estimates of their own whatever their names are, and the first result of each is
// saved.
func TestNamedClassesAreNoLevels(t *testing.T) {
	e, fx := measuring(), grid.Effects{}
	e.Ran(1, "sweep#20240101", 1, &fx)
	e.Ran(1, "sweep#20240102", 100, &fx)
	if len(fx.Saves) != 2 || len(e.classes) != 2 {
		t.Errorf("%d classes, %d records, want 2 and 2", len(e.classes), len(fx.Saves))
	}
	for class, want := range map[string]float64{"sweep#20240101": 1, "sweep#20240102": 100} {
		if mean, _ := e.RunTime(class, nobody); mean != want {
			t.Errorf("%s: %g s, want %g", class, mean, want)
		}
	}
}

// A class whose name stands between those of another one and its levels, and that has levels itself, hides them not:
// process:sh < process:sh-x < process:sh§…
func TestLevelsAreToldAcrossClasses(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	other := func(k int) string { return fmt.Sprintf("process:sh-x%s%08x", grid.LevelMark, k) }
	for _, name := range []func(int) string{level, other} {
		mixed(e, &now, name)
	}
	e.Publish(now.Add(time.Second))
	own, _ := e.Published()
	names := make([]string, len(own))
	for k := range own {
		names[k] = own[k].Class
	}
	want := []string{"process:sh", "process:sh-x", other(1), other(2), level(1), level(2)}
	if !slices.Equal(names, want) || own[0].Alpha > 1e-3*own[4].Alpha || own[1].Alpha > 1e-3*own[2].Alpha {
		t.Errorf("told %v, want %v, and next to no other tasks of the classes", own, want)
	}
}

// A node that has many peers does not ask them all for each task: they are asked once about a level until the rows are
// set or the rates are published again.
func TestPeersAreAskedOnceAboutALevel(t *testing.T) {
	e, asked, mu := measuring(), 0, 2.0
	told := func(class string, _ bool, dst []float64) []float64 {
		if class == level(1) {
			asked++
			dst = append(dst, mu)
		}
		return dst
	}
	for range 10 {
		if mean, _ := e.RunTime(level(1), told); mean != 0.5 || asked != 1 {
			t.Fatalf("%g s, asked %d times", mean, asked)
		}
	}
	mu = 4
	e.Publish(grid.Time(5e9))
	if mean, _ := e.RunTime(level(1), told); mean != 0.25 || asked != 2 {
		t.Errorf("%g s after a publication, asked %d times", mean, asked)
	}
	e.ResetRows()
	if e.RunTime(level(1), told); asked != 3 {
		t.Errorf("asked %d times after the rows were set", asked)
	}
}
