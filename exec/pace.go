package exec

import "skep/grid"

// Others may use the cores too. What they leave is shared by the tasks: while these want more than that, each gets on
// at a part of its speed. A run is then reckoned as long as it would have been by itself, so that what is learned
// from it holds whatever others do, and times to come are stretched by what they do now.
type pace struct {
	left   float64 // share of the cores that is left to tasks, more than 0 to 1
	lost   float64 // seconds that a task which ran all the time would have lost so far
	passed grid.Time
}

// Left says what share of the cores is left to tasks from now on, more than 0 to 1. It is 1 until said.
func (e *Exec) Left(now grid.Time, share float64) {
	e.Pass(now)
	e.left = share
}

// Pass reckons up to now with what ran until now. It comes before whatever else happens at that time.
func (e *Exec) Pass(now grid.Time) {
	if e.left < 1 && now > e.passed {
		e.lost += (1 - e.speed(e.capacity.CPU-e.free.CPU)) * now.Sub(e.passed).Seconds()
	}
	e.passed = now
}

// speed is at what part of its speed a task gets on while tasks want that many cores:
//
//	min(1, left·capacity/want)
func (e *Exec) speed(want grid.MilliCPU) float64 {
	if have := e.left * float64(e.capacity.CPU); e.left < 1 && float64(want) > have {
		return have / float64(want)
	}
	return 1
}

// Speed is at what part of its speed a task of that need would get on beside those that run now.
func (e *Exec) Speed(need grid.MilliCPU) float64 {
	return e.speed(min(e.capacity.CPU, e.capacity.CPU-e.free.CPU+need))
}

// Ran is for how long running work would have run until now if nobody else had used the cores, seconds.
func (e *Exec) Ran(now grid.Time, w *Work) float64 {
	return max(now.Sub(w.Started).Seconds()-(e.lost-w.lost), 0)
}
