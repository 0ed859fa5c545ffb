package demo

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"skep/node/api/v1"
)

func TestWork(t *testing.T) {
	for class, want := range map[string]string{"primes": "1184", "matrix": "", "hash": ""} {
		one, err := Work(class, 2)
		again, _ := Work(class, 2)
		other, _ := Work(class, 3)
		if err != nil || one != again || one == other || want != "" && one != want {
			t.Errorf("%s: %q, again %q, of more work %q, %v", class, one, again, other, err)
		}
	}
	for class, units := range map[string]int{"primes": 0, "hash": maxUnits + 1, "tea": 1} {
		if _, err := Work(class, units); err == nil || !strings.Contains(err.Error(), "want primes, matrix or hash") {
			t.Errorf("%s %d: %v", class, units, err)
		}
	}
}

// The arrivals depend on the seed alone, and come in order, from every node.
func TestDraw(t *testing.T) {
	type arrival struct {
		class  string
		at     time.Duration
		origin int
	}
	arrivals := func(seed uint64) (all []arrival) {
		for _, x := range draw(seed, 40, 5) {
			if x.want == "" {
				t.Errorf("a task of %d units of %s has no expected output", x.units, x.class)
			}
			all = append(all, arrival{x.class, x.at, x.origin})
		}
		return all
	}
	one := arrivals(1)
	if !reflect.DeepEqual(one, arrivals(1)) || reflect.DeepEqual(one, arrivals(2)) {
		t.Error("want the same arrivals of the same seed alone")
	}
	from := map[int]bool{}
	for i := range one {
		from[one[i].origin] = true
		if i > 0 && one[i].at < one[i-1].at {
			t.Errorf("task %d arrives at %v, after one at %v", i, one[i].at, one[i-1].at)
		}
	}
	if len(from) != 5 {
		t.Errorf("tasks from %v", from)
	}
}

func TestReport(t *testing.T) {
	ns := &network{list: plan()}
	p := &pass{messages: 8}
	for i, c := range []string{"primes", "hash"} {
		p.runs = append(p.runs, outcome{task: &task{class: c, origin: 0}, completion: time.Duration(i+1) * time.Second,
			node:  "ash",
			moved: i == 1, record: v1.Task{Result: &v1.Result{Wall: 0.75}}})
	}
	alone := &pass{runs: []outcome{{task: &task{class: "primes"}, completion: 3 * time.Second}}}
	var b strings.Builder
	p.table(&b, ns)
	p.compare(&b, alone)
	for _, want := range []string{"TASK  CLASS", "0     primes  ash", "250 ms",
		"1 of 2 tasks moved (50 %); 4.0 messages for each task, gossip included; mean completion time 1500 ms.",
		"all tasks             1500 ms      3000 ms          2.0",
		"primes                1000 ms      3000 ms          3.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("does not print %q:\n%s", want, b.String())
		}
	}
}
