package market

import "cmp"

// best returns the seller that comes first for a kind's next task, by what is negative if seller a does before b and 0
// if they are as good; −1 = none accepts it.
func (r *Round) best(k *Kind, compare func(k *Kind, a, b int) int) int {
	best, ties := -1, 1
	for j := range r.sellers {
		if !r.accepts(k, j) {
			continue
		}
		order := -1
		if best >= 0 {
			order = compare(k, j, best)
		}
		switch {
		case order < 0:
			best, ties = j, 1
		case order == 0:
			if ties++; r.Prefers != nil && r.Prefers(j, best, ties) {
				best = j
			}
		}
	}
	return best
}

// compareSpeeds is negative if seller a is faster than b for a kind's next task, or as fast and taken before it.
func (r *Round) compareSpeeds(k *Kind, a, b int) int {
	if order := cmp.Compare(r.speed(k, b), r.speed(k, a)); order != 0 {
		return order
	}
	switch {
	case r.lower(a, b):
		return -1
	case r.lower(b, a):
		return 1
	}
	return 0
}

// lower reports whether seller a is taken before the equally fast b: it is idle, or executes a lower bid.
func (r *Round) lower(a, b int) bool {
	if r.p.Choice != Lowest {
		return false
	}
	idle := func(j int) bool { return r.hasSlot(j) }
	if idle(a) || idle(b) {
		return idle(a) && !idle(b)
	}
	return r.sellers[a].Outbid < r.sellers[b].Outbid
}
