package exec

import "skep/grid"

// coreShare accounts for other users of the cores. Tasks share the cores that these leave: while tasks need more than
// that, each runs at a fraction of its speed. Run times are counted as if a task had run alone, so that what is learnt
// from them does not depend on other users, and expected times are stretched by the current share.
type coreShare struct {
	share      float64   // share of the cores that is left to tasks, more than 0 to 1
	lost       float64   // seconds that a task which ran all the time would have lost so far
	advancedAt grid.Time // while share is less than 1
	sharing    *sharing  // nil = work has its cores to itself
}

// SetCoreShare sets the share of the cores that is left to tasks, more than 0 to 1. It is 1 initially.
func (e *Exec) SetCoreShare(now grid.Time, share float64) {
	e.Advance(now)
	e.share, e.advancedAt = share, now
	e.sharing.setLeft(now, share)
}

// Advance accounts for the time until now. It must be called before any other change at that time.
func (e *Exec) Advance(now grid.Time) {
	e.lines.now = now
	if e.share < 1 && e.sharing == nil && now > e.advancedAt {
		e.lost += (1 - e.speed(e.capacity.CPU-e.free.CPU)) * now.Sub(e.advancedAt).Seconds()
		e.advancedAt = now
	}
}

// Now is the time of the last Advance.
func (e *Exec) Now() grid.Time { return e.lines.now }

// speed returns the fraction of its speed at which a task runs while tasks need that many cores:
//
//	min(1, share·capacity/want)
func (e *Exec) speed(want grid.MilliCPU) float64 {
	if have := e.share * float64(e.capacity.CPU); e.share < 1 && float64(want) > have {
		return have / float64(want)
	}
	return 1
}

// Speed returns the fraction of its speed at which a task with that need would run beside those that run now, whatever
// it bids: for what shares the cores SpeedOf has it all.
func (e *Exec) Speed(need grid.MilliCPU) float64 {
	if e.sharing != nil {
		return 1
	}
	return e.speed(min(e.capacity.CPU, e.capacity.CPU-e.free.CPU+need))
}

// RunTime returns for how many seconds running work would have run until now without other users of the cores and
// suspensions, at full speed.
func (e *Exec) RunTime(now grid.Time, w *Work) float64 {
	lost := 0.0
	if e.sharing == nil { // else the age is without it
		lost = e.lost - w.lostAtStart
	}
	return max(e.age(now, w).Seconds()-lost, 0)
}
