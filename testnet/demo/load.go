package demo

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/internal/cputime"
)

// task is one task of the demonstration and its expected output.
type task struct {
	class  string
	units  int
	want   string
	at     time.Duration // since the start of the arrivals
	origin int           // index of the node that it is submitted to
}

// draw draws the tasks in the order of their arrival: exponential times between arrivals; class, size and node at
// random. Sizes are such that
// a task takes about work on this machine; the expected outputs are computed here.
func draw(seed uint64, number, nodes int) (tasks []task) {
	units := map[string]int{}
	want := map[string]string{}
	for _, c := range classes {
		units[c] = calibrate(c)
	}
	r := grid.NewRand(seed, 0)
	var at time.Duration
	for range number {
		at += time.Duration(r.ExpFloat64() * float64(span) / DefaultTasks)
		c := classes[r.IntN(len(classes))]
		n := max(1, units[c]*(8+2*r.IntN(3))/10)
		key := fmt.Sprint(c, n)
		if want[key] == "" {
			want[key] = programs[c](n)
		}
		tasks = append(tasks, task{class: c, units: n, want: want[key], at: at, origin: r.IntN(nodes)})
	}
	return tasks
}

// calibrate returns how many units of a class take work of CPU time.
func calibrate(class string) int {
	best := time.Hour
	const units = 10
	for range 3 {
		before := cputime.Used()
		programs[class](units)
		if d := cputime.Used() - before; d > 0 {
			best = min(best, d)
		}
	}
	return max(1, min(maxUnits, int(units*work/best)))
}
