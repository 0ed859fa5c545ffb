package federation

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"skep/balance/waiting"
)

func run(t *testing.T, s *System, load, time float64, experiments int, strategies ...string) [][]Figures {
	t.Helper()
	var of []Strategy
	for _, name := range strategies {
		st, err := ParseStrategy(name)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, st)
	}
	out, err := s.Run(context.Background(), of, load, time, 7, experiments, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// With durations that are known exactly the estimate at the hand-over is when the task does start, whatever ranks the
// sites and however wide tasks are; with others it is not [1, figure 3.3].
func TestEstimateIsTheTruth(t *testing.T) {
	s := Default()
	s.Widths = []int{1, 2, 8}
	for _, f := range run(t, s, 1, 50_000, 2, "random", "load", "ewt", "combined:0.1") {
		for k, x := range f {
			if !(x.Wait > 0) || x.EstimateError > 1e-6 {
				t.Errorf("strategy %d: a mean wait of %v s, and the estimates are off by %v s, want 0", k, x.Wait, x.EstimateError)
			}
		}
	}
	for _, e := range []string{"guessed", "unknown"} {
		s.Estimates = e
		if x := run(t, s, 1, 50_000, 1, "ewt")[0][0]; x.EstimateError < 1 {
			t.Errorf("durations that are %s: off by %v s, want more", e, x.EstimateError)
		}
	}
}

// Of 100 processors a tenth may wait: no more than ten tasks of the grid do, however many are there [1, equation 3.5].
func TestThrottle(t *testing.T) {
	s := Default()
	s.Sites = []int{100, 20}
	for _, f := range run(t, s, 1.3, 50_000, 2, "load:0.1", "ewt:0.1", "ewt:free", "ewt") {
		if f[0].Queued != 10 || f[1].Queued != 10 || f[3].Queued < 50 {
			t.Errorf("%v, %v and without a bound %v wait: want 10, 10 and many", f[0].Queued, f[1].Queued, f[3].Queued)
		}
		if f[2].Idle < 2*f[1].Idle {
			t.Errorf("with a queue %v of the processors idle while a task waits, without one %v: want many more", f[1].Idle,
				f[2].Idle)
		}
	}
}

// A task whose store is down fails where nobody looks; by data none does but those whose store went down since it was
// measured. Where all stores fail, tasks wait for them, or are sent all the same.
func TestStoresThatAreDown(t *testing.T) {
	s := Default()
	d := defaultData()
	d.Outage, d.Other = 1e9, 0
	s.Data = &d
	for _, f := range run(t, s, 0.7, 50_000, 3, "combined", "datarank", "transfer") {
		if f[0].Errors < 0.3 || f[0].StoreErrors != 1 || f[1].Errors != 0 || f[2].Errors != 0 || f[1].Held < 0.3 {
			t.Errorf("%v fail blindly, by data %v and %v, %v wait: want about a half, 0, 0 and a half", f[0].Errors, f[1].Errors,
				f[2].Errors, f[1].Held)
		}
	}
	d.Unreachable = "sent"
	if f := run(t, s, 0.7, 50_000, 1, "datarank")[0][0]; f.Held != 0 || f.Errors < 0.3 {
		t.Errorf("sent: %v fail, %v wait, want about a half, and 0", f.Errors, f.Held)
	}
	d.Failing = 0
	if f := run(t, s, 0.7, 50_000, 1, "combined")[0][0]; f.Errors != 0 || !math.IsNaN(f.StoreErrors) {
		t.Errorf("no store fails: %+v", f)
	}
}

// Tasks that fail for another reason before their transfer take nothing from those that fail for a store; after it they
// do.
func TestOtherFailures(t *testing.T) {
	s := Default()
	d := defaultData()
	d.Other = 0.5
	s.Data = &d
	before := run(t, s, 0.6, 50_000, 2, "combined")[0][0]
	d.OtherAt = "after"
	after := run(t, s, 0.6, 50_000, 2, "combined")[0][0]
	if before.StoreErrors >= after.StoreErrors || before.Errors != after.Errors {
		t.Errorf("before: %v fail, %v of them for a store; after: %v, %v", before.Errors, before.StoreErrors, after.Errors,
			after.StoreErrors)
	}
}

// A broker knows what it gave a site since the advert, so that not all tasks go to the same.
func TestBrokerCountsMatches(t *testing.T) {
	s := Default()
	st, err := ParseStrategy("combined")
	if err != nil {
		t.Fatal(err)
	}
	b := broker{system: s, strategy: st, adverts: []waiting.Site{{Free: 2, Total: 10, MeanRun: 10},
		{Free: 1, Total: 10, MeanRun: 10}}}
	for range 4 {
		b.waiting = append(b.waiting, &task{})
	}
	var given []int
	b.match(func(_ *task, k int) { given = append(given, k) })
	if want := []int{0, 0, 1, 0}; !reflect.DeepEqual(given, want) || len(b.waiting) != 0 {
		t.Errorf("given to %v, want %v", given, want)
	}
	if b.adverts[0].Matched != 3 || b.adverts[1].Matched != 1 {
		t.Errorf("matched %+v", b.adverts)
	}
}

func TestSameSeedSameFigures(t *testing.T) {
	a := run(t, Default(), 0.9, 20_000, 3, "random", "combined:0.1")
	if b := run(t, Default(), 0.9, 20_000, 3, "random", "combined:0.1"); !reflect.DeepEqual(text(a), text(b)) ||
		a[0][0].Wait == a[1][0].Wait {
		t.Error("two runs of a seed differ, or two seeds do not")
	}
}

// text makes figures comparable: NaN is not equal to itself.
func text(f [][]Figures) (out []Figures) {
	for _, of := range f {
		for _, x := range of {
			x.StoreErrors = 0
			out = append(out, x)
		}
	}
	return out
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"sites: []": "sites: there are 0", "sites: [0]": "0 processors", "widths: [50]": "widths: 50", "mean: 0": "mean 0",
		"estimates: none": `estimates "none"`, "data: {copies: 11}": "data.copies 11", "data: {down: 1}": "data.down 1",
		"data: {other_at: never}": "data.other_at", "data: {unreachable: lost}": "data.unreachable",
		"unknown: 1": "unknown"} {
		if _, err := Read("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	for _, name := range []string{"hope", "ewt:x", "ewt:-1", "ewt:", "load:+free"} {
		if _, err := ParseStrategy(name); err == nil {
			t.Errorf("strategy %s is known", name)
		}
	}
	byData, _ := ParseStrategy("datarank")
	for _, load := range []float64{0.5, math.NaN(), 11} {
		if _, err := Default().Run(context.Background(), nil, load, 1e5, 1, 1, nil); err == nil {
			t.Errorf("load %v passes", load)
		}
	}
	if _, err := Default().Run(context.Background(), []Strategy{byData}, 0.9, 1e5, 1, 1, nil); err == nil {
		t.Error("a rank by data passes without data")
	}
}
