package reservation

import "skep/grid"

// Expire gives up what was not used in time.
func (t *Table) Expire(now grid.Time) {
	for i := len(t.kept) - 1; i >= 0; i-- {
		if now >= t.kept[i].until {
			t.remove(now, i)
		}
	}
}

// Next is when the next reservation expires; Never = none will.
func (t *Table) Next() grid.Time {
	next := grid.Never
	for _, k := range t.kept {
		next = min(next, k.until)
	}
	return next
}

// Last is when the last reservation expires; Never = none will.
func (t *Table) Last() grid.Time {
	last := grid.Time(-1)
	for _, k := range t.kept {
		last = max(last, k.until)
	}
	if last < 0 {
		return grid.Never
	}
	return last
}
