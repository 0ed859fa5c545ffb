package recovery

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"skep/balance/utility"
)

func never() bool { return false }

// by makes an engine of one cluster whose tasks are given, in their order under the name of a strategy.
func by(t *testing.T, strategy string, processors int, tasks ...task) *engine {
	t.Helper()
	st, err := ParseStrategy(strategy)
	if err != nil {
		t.Fatal(err)
	}
	s := Default()
	s.Clusters = []int{processors}
	e := newEngine(s, st, len(tasks), 1)
	e.tasks = tasks
	for k := range tasks {
		tasks[k].started = -1
	}
	return e
}

func one(technique utility.Technique, length, failsAt float64) task {
	o := option{technique: technique, value: 10, length: length, risk: 0.1, fails: failsAt > 0, at: failsAt}
	return task{length: length, value: 10, options: []option{o}}
}

// A failure ends a task, or it runs again, or one of both runs goes on; a processor is free from then on [1, section
// 7.3]. What waits begins at the next allocation, every 100 s.
func TestWhatAFailureDoes(t *testing.T) {
	for _, c := range []struct {
		technique utility.Technique
		fails     float64
		end, next float64 // of the task, and the begin of the one behind it
		failed    int
	}{
		{utility.None, 0, 1000, 1000, 0},
		{utility.None, 0.25, 250, 300, 1},
		{utility.Retry, 0.25, 1250, 1300, 0},
		{utility.Replicate, 0, 1000, 1000, 0},
		{utility.Replicate, 0.25, 1000, 300, 0},
	} {
		processors := 1 + int(c.technique)/int(utility.Replicate) // as many as it takes
		e := by(t, fcfs, processors, one(c.technique, 1000, c.fails), one(utility.None, 10, 0))
		e.run(never)
		if end := max(c.end, c.next+10); e.end != end || e.tasks[1].started != c.next || e.failed != c.failed {
			t.Errorf("technique %v, failing at %v: all ends at %v, the next begins at %v, %d failed: want %v, %v, %d",
				c.technique, c.fails, e.end, e.tasks[1].started, e.failed, end, c.next, c.failed)
		}
		if paid := float64(20 - 10*c.failed); e.paid != paid {
			t.Errorf("technique %v, failing at %v: %v was paid, want %v", c.technique, c.fails, e.paid, paid)
		}
	}
}

// With room for all, a task has the option of the highest utility [1, Table 7.1]: Value gives up 10 % of what a run
// without a technique is worth, Value/Cost and Value/ERT also 3.3 % of a retry's, and Value/Cost half of a replica's.
func TestUtilityChooses(t *testing.T) {
	const none, retry, replica = utility.None, utility.Retry, utility.Replicate
	for _, c := range []struct {
		strategy string
		values   [len(techniques)]float64
		want     utility.Technique
	}{
		{"value", [3]float64{10, 8.9, 8.9}, none},
		{"value", [3]float64{10, 9.1, 8.9}, retry},
		{"value", [3]float64{10, 9.1, 9.2}, replica},
		{"value_cost", [3]float64{10, 9.3, 10}, none},
		{"value_cost", [3]float64{10, 9.4, 17}, retry},
		{"value_cost", [3]float64{10, 9.4, 18}, replica},
		{"value_ert", [3]float64{10, 9.3, 8.9}, none},
		{"value_ert", [3]float64{10, 9.4, 9}, retry},
		{"value_ert", [3]float64{10, 9.4, 9.2}, replica},
	} {
		x := task{length: 1000, value: 10}
		for k, v := range c.values {
			x.options = append(x.options, option{technique: techniques[k], value: v, length: 1000, risk: 0.1})
		}
		e := by(t, c.strategy, 2, x)
		if e.run(never); e.chosen[c.want] != 1 {
			t.Errorf("%s of %v: %v have none, retry and replica, want technique %d", c.strategy, c.values, e.chosen, c.want)
		}
	}
}

// All start, on no more processors than there are (start panics otherwise), and those that have failed and what was
// paid are what their options say.
func TestSumsAgree(t *testing.T) {
	for _, st := range strategies {
		e := newEngine(Default(), st, 300, 7)
		if !e.run(never) || len(e.waiting) > 0 {
			t.Fatalf("%s: %d tasks have not begun", st.Name, len(e.waiting))
		}
		began := 0
		for k := range e.tasks {
			if at := e.tasks[k].started; at >= 0 && math.Mod(at, 100) == 0 {
				began++
			}
		}
		f := e.figures()
		if sum := f.None + f.Retry + f.Replication; began != 300 || math.Abs(sum-1) > 1e-9 || f.Failures > f.Faults ||
			!(f.Profit > 0 && f.Profit <= 1) {
			t.Errorf("%s: %d began at an allocation, %+v", st.Name, began, f)
		}
	}
}

func TestSameSeedSameFigures(t *testing.T) {
	run := func() [][]Figures {
		out, err := Default().Run(context.Background(), strategies, 60, 3, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	a := run()
	if b := run(); len(a) != 4 || !reflect.DeepEqual(a, b) || reflect.DeepEqual(a[0], a[1]) {
		t.Error("two runs of a seed differ, or two seeds do not")
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"clusters: [1]": "want from 2", "tau: 0": "tau 0", "failing: {mean: 2, deviation: 0}": "failing.mean 2",
		"values: all": `values "all"`, "beta: 2": "beta 2", "unknown: 1": "unknown"} {
		if _, err := Read("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ParseStrategy("hope"); err == nil {
		t.Error("strategy hope is known")
	}
	if _, err := Default().Run(context.Background(), strategies, 1, 1, 1, nil); err == nil {
		t.Error("an experiment of one task passes, which has no correlation")
	}
}
