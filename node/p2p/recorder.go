package p2p

import (
	"skep/grid"
	"skep/node"
)

// Recorder records a node's inputs and effects. Its methods are called one at a time: Begin, Restored for each
// record, then Before and After around each step. Arguments must not be kept.
type Recorder interface {
	Begin(c node.Config, wall grid.Wall)
	Restored(r *grid.Record)
	Before(now grid.Time, ev *grid.Event)
	After(fx *grid.Effects) // of that step alone
}

// restore restores the node from its records.
func (d *Driver) restore() error {
	err := d.store.Load(func(r *grid.Record) error {
		d.runner.RecordSaved(r)
		if d.cfg.Recorder != nil {
			d.cfg.Recorder.Restored(r)
		}
		d.node.Restore(r)
		d.members.NoteRecord(r)
		return nil
	})
	if err != nil { // what is left of attempts that were not read must not be ended
		return err
	}
	return d.runner.Restored()
}

func (l *loop) step(at grid.Time, ev *grid.Event) {
	if rec := l.d.cfg.Recorder; rec != nil {
		rec.Before(at, ev)
		before := l.fx
		l.d.node.Step(at, ev, &l.fx)
		of := effectsSince(&l.fx, &before)
		rec.After(&of)
	} else {
		l.d.node.Step(at, ev, &l.fx)
	}
	saved := 0
	if k := len(l.steps); k > 0 {
		saved = l.steps[k-1].saves
	}
	for i := range l.fx.Saves[saved:] {
		l.records += 1 + int(l.fx.Saves[saved+i].Entry.Further)
	}
	l.steps = append(l.steps, countEffects(&l.fx))
}

// effectsSince returns the effects appended since before.
func effectsSince(fx, before *grid.Effects) grid.Effects {
	return grid.Effects{
		Saves: fx.Saves[len(before.Saves):], Sends: fx.Sends[len(before.Sends):],
		Announces: fx.Announces[len(before.Announces):],
		Wakes:     fx.Wakes[len(before.Wakes):], Fetches: fx.Fetches[len(before.Fetches):],
		Starts: fx.Starts[len(before.Starts):], Suspends: fx.Suspends[len(before.Suspends):],
		Stops: fx.Stops[len(before.Stops):], Replies: fx.Replies[len(before.Replies):], Links: fx.Links[len(before.Links):],
		Offences: fx.Offences[len(before.Offences):], Changed: fx.Changed[len(before.Changed):]}
}
