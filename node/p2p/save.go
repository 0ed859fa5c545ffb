package p2p

import (
	"fmt"

	"skep/grid"
)

// save brings to disk what effects of this turn wait for. If none waits, the records wait themselves.
func (l *loop) save(at grid.Time) error {
	late := len(l.late)+len(l.fx.Saves) <= maxLate && (len(l.late) == 0 || at < l.lateBy)
	for i := range l.fx.Saves {
		late = late && l.fx.Saves[i].Later
	}
	if !late {
		return l.commit(l.fx.Saves)
	}
	if len(l.late) == 0 {
		l.lateBy = at.Add(lateFor)
	}
	l.late = append(l.late, l.fx.Saves...)
	return nil
}

// commit brings records to disk, behind those that wait.
func (l *loop) commit(records []grid.Record) error {
	if len(l.late) > 0 {
		l.late = append(l.late, records...)
		records = l.late
	}
	if len(records) == 0 {
		return nil
	}
	if err := l.d.store.Commit(records); err != nil {
		return fmt.Errorf("save %d records: %w", len(records), err)
	}
	clear(l.late)
	l.late = l.late[:0]
	return nil
}
