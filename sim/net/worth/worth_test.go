package worth

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/document"
	"skep/grid"
)

func readTerms(text string) (t Terms, problems string) {
	r := document.Reader{Name: "s"}
	body, err := r.Parse([]byte(text))
	if err != nil {
		return t, err.Error()
	}
	for _, e := range r.Mapping(body, "class", "priority", "deadline") {
		if e.Key == "priority" {
			t.ReadPriority(&r, e)
		} else {
			t.ReadDeadline(&r, e)
		}
	}
	if err := r.Err(); err != nil {
		problems = err.Error()
	}
	return t, problems
}

func TestTermsOfAFile(t *testing.T) {
	const s = time.Second
	for _, x := range []struct {
		text string
		want Terms
		bad  string
	}{
		{text: "priority: 4", want: Terms{Bid: [2]grid.Bid{4000, 4000}}},
		{text: "priority: [0.5, 4]", want: Terms{Bid: [2]grid.Bid{500, 4000}}},
		{text: "deadline: 10s", want: Terms{At: [2]time.Duration{10 * s, 10 * s}, Share: 1}},
		{text: "deadline: {at: [5s, 20s], worthless: 1m, share: 0.5}",
			want: Terms{At: [2]time.Duration{5 * s, 20 * s}, Worthless: [2]time.Duration{60 * s, 60 * s}, Share: 0.5}},
		{text: "priority: [4, 1]", bad: "s:1:11: priority: want one value, or the lowest and the highest, as in 4"},
		{text: "priority: 0", bad: `priority "0": want a number`},
		{text: "deadline: 1ms", bad: `deadline "1ms": want a length of time from 1s to`},
		{text: "deadline: {share: 0.5}", bad: "deadline: has no at: want until when"},
		{text: "deadline: {at: [5s, 20s], worthless: 20s}", bad: "worthless from 20s, at up to 20s: want it worthless after"},
		{text: "deadline: {at: 5s, share: 2}", bad: `share "2": want a share`},
		{text: "deadline: {at: 5s, hard: true}", bad: `unknown key "hard": want one of at, worthless, share`},
	} {
		got, problems := readTerms(x.text)
		if x.bad == "" && (got != x.want || problems != "") {
			t.Errorf("%s: %+v, %s", x.text, got, problems)
		}
		if !strings.Contains(problems, x.bad) || x.bad != "" && problems == "" {
			t.Errorf("%s: %q, want %q", x.text, problems, x.bad)
		}
	}
}

// Bids and deadlines lie where the terms say, evenly, and as many jobs have a deadline.
func TestTermsAreDrawn(t *testing.T) {
	terms, _ := readTerms("{priority: [1, 3], deadline: {at: [5s, 15s], worthless: [20s, 40s], share: 0.25}}")
	r, job := grid.NewRand(1, 1), &grid.JobSpec{Class: "c"}
	const n = 20_000
	with, bids, at, worthless := 0.0, 0.0, 0.0, 0.0
	for range n {
		x := terms.For(job, r)
		d := x.Rules.Deadline
		if bids += x.Bid().Number(); x.Bid() < 1000 || x.Bid() > 3000 || x.Class != "c" {
			t.Fatalf("%+v", x)
		}
		if !d.Some() {
			continue
		}
		if d.At < 5*time.Second || d.At > 15*time.Second || d.Worthless < 20*time.Second || d.Worthless > 40*time.Second {
			t.Fatalf("%+v", d)
		}
		with, at, worthless = with+1, at+d.At.Seconds(), worthless+d.Worthless.Seconds()
	}
	for what, x := range map[string][2]float64{"share": {with / n, 0.25}, "bid": {bids / n, 2}, "at": {at / with, 10},
		"worthless": {worthless / with, 30}} {
		if math.Abs(x[0]/x[1]-1) > 0.05 {
			t.Errorf("%s: mean %.4g, want %.4g", what, x[0], x[1])
		}
	}
	if job.Rules.Bid != 0 || job.Rules.Deadline.Some() || (&Terms{}).For(job, r) != job {
		t.Error("the job itself has changed, or one without terms has")
	}
}

func exited(code int32) *grid.Result { return &grid.Result{Cause: grid.Exited, Exit: code} }

// By hand: bids 1, 2 and 4 with sizes 1, 3 and 2; the second late by half its time, the third refused, a fourth missed.
func TestSums(t *testing.T) {
	job := func(bid grid.Bid, at, worthless time.Duration) *grid.JobSpec {
		return &grid.JobSpec{Rules: grid.Rules{Bid: bid, Deadline: grid.Deadline{At: at, Worthless: worthless}},
			Submitter: grid.Submitter{User: map[bool]string{true: "ada", false: "ben"}[bid < 3000]}}
	}
	const s = time.Second
	var tally Tally
	for _, x := range []Task{
		{Spec: job(1000, 0, 0), Result: exited(0), Took: 5 * s, Size: 1, Slowdown: 5},
		{Spec: job(2000, 10*s, 20*s), Result: exited(0), Took: 15 * s, Size: 3, Slowdown: 3},
		{Spec: job(4000, 10*s, 0), Refused: true},
		{Spec: job(4000, 10*s, 0), Result: &grid.Result{Cause: grid.Missed, Exit: grid.ExitMissed}, Took: 10 * s, Size: 2},
		{Spec: job(7000, 10*s, 0), Result: exited(0), Took: 10 * s, Size: 2, Slowdown: 4},
		{Spec: job(1000, 0, 0), Result: exited(1), Took: 5 * s, Size: 1},
	} {
		tally.Add(&x)
	}
	a := &tally.All
	for what, x := range map[string][2]float64{
		"tasks": {float64(a.Tasks), 6}, "refused": {float64(a.Refused), 1}, "missed": {float64(a.Missed), 1},
		"completion": {a.Completion(), 10}, "slowdown": {a.Slowdown(), 4},
		"WCT": {a.WCT(), (1*5 + 2*15 + 7*10) / 3.0}, "WCR": {a.WCR(), (1 + 7) / 19.0},
		"utility": {a.Utility(), (1*1*1 + 2*0.5*3 + 7*1*2) / 6.0},
	} {
		if math.Abs(x[0]-x[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, x[0], x[1])
		}
	}
	var bands [][3]int
	for _, b := range Bands([]*Tally{&tally, {}}) {
		bands = append(bands, [3]int{int(b[0].From), int(b[0].To), b[0].Tasks + b[1].Tasks})
	}
	if want := [][3]int{{1000, 1000, 2}, {2000, 2000, 1}, {4000, 7000, 3}}; !slices.Equal(bands, want) {
		t.Errorf("bands %v, want %v", bands, want)
	}
	names, users := Users([]*Tally{{}, &tally})
	if !slices.Equal(names, []string{"ada", "ben"}) || users[0][1].Tasks != 3 || users[1][1].Tasks != 3 {
		t.Errorf("users %v", names)
	}
}
