package exec

import "skep/grid"

// Places finds the places of queued work in the order in which it is expected to start, from 1 to most, of what may
// start when there is a slot for it. What comes later in that order has none.
func (e *Exec) Places(now grid.Time, law Law, most int) {
	for _, w := range e.lines.placed {
		w.place = 0
	}
	e.lines.placed = e.lines.placed[:0]
	if e.lines.all == nil {
		return
	}
	if l, single := e.lines.all.Single(); !single {
		for _, w := range e.foresee(now, law, most) {
			e.addPlace(w)
		}
	} else if l != nil {
		for _, w := range l.Of.awake[:min(most, len(l.Of.awake))] {
			e.addPlace(w)
		}
	}
}

func (e *Exec) addPlace(w *Work) {
	if w.ready && w.sleep == awake && !w.Held {
		e.lines.placed = append(e.lines.placed, w)
		w.place = int32(len(e.lines.placed))
	}
}

// Place is the place of queued work, as of the last call of Places; 0 = it has none.
func (w *Work) Place() uint32 {
	if w.State != grid.WorkQueued {
		return 0
	}
	return uint32(w.place)
}
