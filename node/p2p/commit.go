package p2p

import (
	"fmt"

	"skep/grid"
)

// saveOrDefer commits the records of this turn if effects depend on any of them, else it defers them.
func (l *loop) saveOrDefer(at grid.Time) error {
	late := len(l.deferred)+len(l.fx.Saves) <= maxDeferred && (len(l.deferred) == 0 || at < l.commitBy)
	for i := range l.fx.Saves {
		late = late && l.fx.Saves[i].Later
	}
	if !late {
		return l.commit(l.fx.Saves)
	}
	if len(l.deferred) == 0 {
		l.commitBy = at.Add(maxDefer)
	}
	l.deferred = append(l.deferred, l.fx.Saves...)
	return nil
}

// commit commits records, after the deferred ones.
func (l *loop) commit(records []grid.Record) error {
	if len(l.deferred) > 0 {
		l.deferred = append(l.deferred, records...)
		records = l.deferred
	}
	if len(records) == 0 {
		return nil
	}
	if err := l.d.store.Commit(records); err != nil {
		return fmt.Errorf("save %d records: %w", len(records), err)
	}
	clear(l.deferred)
	l.deferred = l.deferred[:0]
	return nil
}
