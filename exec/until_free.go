package exec

import (
	"cmp"
	"slices"

	"skep/grid"
)

// UntilFree returns the expected time in seconds until so many slots are free if nothing else starts. What runs is
// expected to end in the order of the expected remaining times; until each end it is the mean time to the first of
// several exponential ones, as in [Exec.Wait], so that one of many slots is free soon and the last of them is not.
// Slots that are kept count as free: who asks may get them. So do those of the job that they are for: a gang that moves
// asks before its ranks have stopped.
func (e *Exec) UntilFree(now grid.Time, of grid.JobID, slot grid.Resources, slots int, law Law) (sum float64) {
	var need grid.Resources
	for range slots {
		need = need.Plus(slot)
	}
	type end struct {
		frees grid.Resources
		rate  float64 // 1 / expected remaining time
	}
	var ends []end
	room, rates := e.capacity, 0.0
	add := func(taken grid.Resources, rest float64) {
		room = room.Minus(taken)
		ends, rates = append(ends, end{taken, 1 / rest}), rates+1/rest
	}
	for _, w := range e.stopping {
		add(w.need, stoppingTime)
	}
	for _, w := range e.running {
		if _, rest := e.remaining(now, w, law); w.ID.Task.Job != of {
			add(w.Spec.Needs.Resources, rest)
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(b.rate, a.rate) })
	for len(ends) > 0 && !room.Fits(need) {
		sum += 1 / max(rates, ends[0].rate)
		rates -= ends[0].rate
		room, ends = room.Plus(ends[0].frees), ends[1:]
	}
	return sum
}
