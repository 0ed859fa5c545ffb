package worker

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// leastStop is by how much the timer of beats is late at least if the node was stopped. Lower takes a busy machine for
// a stopped node; higher lets more of a stop count as time that tasks took.
const leastStop = time.Second

// mostStops bounds the stops that are kept: an attempt has seldom run through more.
const mostStops = 8

// stops are the times in which this node was stopped, as a process or a machine may be: the timer of beats was due, and
// came late. What ended meanwhile it hears of late. The timer is pending while anything runs here.
type stops struct {
	due  grid.Time // when the timer is; 0 = none is pending
	last []stop    // the latest last
}

type stop struct{ from, to grid.Time }

// note sees whether the node was stopped until now.
func (s *stops) note(now grid.Time) {
	if s.due == 0 || now < s.due.Add(leastStop) {
		return
	}
	if len(s.last) == mostStops {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	s.last = append(s.last, stop{s.due, now})
	s.due = now
}

// since is for how long the node was stopped since a time.
func (s *stops) since(t grid.Time) (d time.Duration) {
	for _, x := range s.last {
		d += max(x.to.Sub(max(x.from, t)), 0)
	}
	return d
}

// occupied is how long an attempt that has ended took its place, in seconds: see Ran. If the node was stopped it heard
// of the end late, and that was no such time.
func (w *Worker) occupied(now grid.Time, a *exec.Work, r *grid.Result) float64 {
	w.stops.note(now)
	late := min(w.stops.since(a.Started), max(now.Sub(a.Started)-r.Wall, 0))
	return max(w.exec.Alone(now, a, r.CPU)-late.Seconds(), 0)
}
