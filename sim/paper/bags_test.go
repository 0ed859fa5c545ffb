package paper

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func aBag(m matrix) *bag {
	return &bag{Machines: 5, Tasks: 22, Kinds: 4, Times: ranges{Tasks: 100, Machines: 10}, Matrix: m, Busy: time.Minute}
}

// A machine that is faster for one kind is so for all where times are consistent, by the same factor where machines are
// related, and not everywhere else. Tasks on their best machines come to what the machines are to be busy.
func TestTimesOfABag(t *testing.T) {
	for _, m := range []matrix{inconsistent, consistent, related} {
		d := aBag(m).chance(1)
		ordered, proportional := true, true
		for _, row := range d.e {
			for j := range row {
				ordered = ordered && (row[j] < row[0]) == (d.e[0][j] < d.e[0][0])
				proportional = proportional && math.Abs(row[j]/row[0]-d.e[0][j]/d.e[0][0]) < 1e-9
			}
		}
		if ordered != (m != inconsistent) || proportional != (m == related) {
			t.Errorf("%s: ordered %v, proportional %v", m, ordered, proportional)
		}
		least, count := 0.0, make([]int, 4)
		for _, i := range d.kind {
			least += slices.Min(d.e[i])
			count[i]++
		}
		if math.Abs(least-300) > 1e-6 || !slices.Equal(count, []int{6, 6, 5, 5}) {
			t.Errorf("%s: %g s of work, kinds of %v tasks; want 300 s and 22 tasks, evenly", m, least, count)
		}
	}
}

// The last of a bag's tasks comes when so much of the time has passed, about; all come at once by default.
func TestArrivalsOfABag(t *testing.T) {
	b := aBag(inconsistent)
	if d := b.chance(1); d.at[0] != begin || d.at[21] != begin {
		t.Errorf("from %v to %v, want all at once", d.at[0], d.at[21])
	}
	b.Arrive, b.Tasks = 0.5, 2000
	d := b.chance(1)
	if span := d.at[1999] - begin; !slices.IsSorted(d.at) || span < 27*time.Second || span > 33*time.Second {
		t.Errorf("they come over %v, want half a minute", span)
	}
}

// One kind can be longer than all others.
func TestLongKind(t *testing.T) {
	b := aBag(related)
	b.Long = 10
	d := b.chance(1)
	if tau := slices.Sorted(slices.Values(d.tau)); tau[3] != d.tau[0] || tau[3] < 10*tau[2] {
		t.Errorf("kinds of %v, want the first ten times as long as the longest of the others or more", d.tau)
	}
}

// All policies get the same bag: those that know its kinds a job for each, or each task by itself where tasks come one
// by one; those that know nothing one job, with the same speeds of machines.
func TestEachPolicyGetsTheBag(t *testing.T) {
	b := aBag(related)
	kinds, err := b.draw("min_min", 1)
	one, err2 := b.draw("workqueue:2", 1)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	tasks := uint32(0)
	for _, x := range kinds.Streams {
		tasks += x.Tasks
	}
	if len(kinds.Streams) != 4 || tasks != 22 || len(one.Streams) != 1 || one.Streams[0].Tasks != 22 ||
		!one.Classes[0].Idempotent {
		t.Errorf("jobs %+v and %+v, want one for each kind, and one for all", kinds.Streams, one.Streams)
	}
	for g := 2; g < len(one.Groups); g++ {
		a := kinds.Groups[g].Rates["kind0"] / kinds.Groups[1].Rates["kind0"]
		b := one.Groups[g].Rates["bag"] / one.Groups[1].Rates["bag"]
		if math.Abs(a-b) > 1e-9 {
			t.Errorf("machine %d is %g times as fast as the first for kinds, and %g for the bag", g, a, b)
		}
	}
	if len(kinds.Groups[0].Rates)+len(one.Groups[0].Rates) > 0 {
		t.Error("the node that submits runs tasks")
	}
	b.Arrive = 0.5
	if _, err := b.draw("workqueue", 1); err == nil {
		t.Error("tasks of one job come one by one")
	}
	if s, err := b.draw("mct", 1); err != nil || len(s.Streams) != 22 {
		t.Errorf("%d jobs, %v; want one for each task", len(s.Streams), err)
	}
}

func TestMistakesInABag(t *testing.T) {
	const right = "machines: 2\ntasks: 8\nkinds: 2\ntimes: {tasks: 2, machines: 2}\nmatrix: related\nbusy: 1m\n"
	if _, err := readBag("f", []byte(right)); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{"kinds: 2": "kinds: 17", "tasks: 8": "tasks: 1", "related": "square",
		"busy: 1m": "busy: 0s", "tasks: 2, machines: 2": "tasks: 2, machines: 0.5", "busy:": "error: 1\nbusy:",
		"matrix:": "inputs: 5\nmatrix:", "machines: 2\n": "machine: 2\n"} {
		_, err := readBag("f", []byte(strings.Replace(right, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), "f:") {
			t.Errorf("%s: %v, want an error that names the file", to, err)
		}
	}
}
