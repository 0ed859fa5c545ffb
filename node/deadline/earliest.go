package deadline

import (
	"fmt"
	"time"

	"skep/grid"
)

// Lane is a node that may run the tasks of a job, as far as is known.
type Lane struct {
	Slots int     // tasks of the job that it can run at a time
	Ready float64 // seconds until one that came now would start
	Run   float64 // expected seconds that one takes there
}

// Earliest is when the last of so many tasks would end, in seconds from now, if each node worked on nothing else once
// what waits there is done: the least T with Σ slots·⌊(T − ready)/run⌋ ≥ tasks. So it is a lower bound of what is
// expected. 0 = nothing is known.
func Earliest(tasks int, lanes []Lane) float64 {
	done := func(t float64) (n int) {
		for _, l := range lanes {
			if t >= l.Ready+l.Run && n < tasks {
				n += l.Slots * int(min((t-l.Ready)/l.Run*(1+1e-12), float64(tasks)))
			}
		}
		return n
	}
	high := 0.0
	for _, l := range lanes {
		if l.Slots <= 0 || !(l.Run > 0) {
			return 0
		}
		// this node alone is done by then
		if t := l.Ready + l.Run*float64((tasks+l.Slots-1)/l.Slots); high == 0 || t < high {
			high = t
		}
	}
	low := 0.0
	for range bisections {
		if mid := (low + high) / 2; done(mid) >= tasks {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// bisections are enough for a millionth of the first bound.
const bisections = 20

// Shortest is the shortest run time of one task; 0 = nothing is known.
func Shortest(lanes []Lane) (run float64) {
	for _, l := range lanes {
		if l.Slots > 0 && (run == 0 || l.Run < run) {
			run = l.Run
		}
	}
	return run
}

// Impossible says that a deadline cannot be met by tasks that would end at the earliest after so many seconds; "" = it
// can, or nothing is known, as of a gang that may have several numbers of ranks: the run times are those of any.
func Impossible(spec *grid.JobSpec, class string, lanes []Lane) string {
	d, tasks := spec.Rules.Deadline, int(spec.Count)
	if spec.Gang.Sized() {
		return ""
	}
	if spec.IsGang() {
		tasks = 1
	}
	end := Earliest(tasks, lanes)
	if !d.Some() || end <= d.Last().Seconds() {
		return ""
	}
	field, what := "deadline", "its task"
	if d.Worthless > 0 {
		field = "deadline.worthless"
	}
	if spec.Count > 1 {
		what = fmt.Sprintf("the last of its %d tasks", spec.Count)
	}
	return fmt.Sprintf("%s %v: cannot be met: %s is expected to end %v after the submission at the earliest, by what "+
		"tasks of class %.64s have taken and by what the nodes that fit have to do (%d known): want a later deadline, fewer "+
		"tasks, or a class of their own for tasks that take less", field, d.Last(), what, rounded(end), class, len(lanes))
}

// rounded is a time in seconds as it is said to people.
func rounded(s float64) time.Duration {
	d := grid.Seconds(s)
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// Unstarted says that a task which takes so many seconds waits at its node still, when so much is left.
func Unstarted(run float64, left time.Duration) string {
	return fmt.Sprintf("it waits there still, and is expected to run for %v where %v are left", rounded(run),
		rounded(max(left, 0).Seconds()))
}

// Late says by how much a task that would end after so many seconds at the earliest is late.
func Late(end float64, left time.Duration) string {
	return fmt.Sprintf("it would end %v after it at the earliest", rounded(end-left.Seconds()))
}
