package p2p

import (
	"skep/grid"
)

// effectCounts holds the lengths of the effect lists that concern attempts, after a step.
type effectCounts struct{ saves, stops, suspends, fetches, starts, takes int }

func countEffects(fx *grid.Effects) effectCounts {
	return effectCounts{len(fx.Saves), len(fx.Stops), len(fx.Suspends), len(fx.Fetches), len(fx.Starts), len(fx.Takes)}
}

// carryOut carries out the effects of a batch: those about attempts step by step, so that what one step began the
// next can end, and the others kind by kind. Nothing in it blocks.
func (l *loop) carryOut() {
	d, fx := l.d, &l.fx
	var done effectCounts
	for _, to := range l.steps {
		l.carryOutAttempts(done, to)
		done = to
	}
	l.sendAll(false)
	for i := range fx.Announces {
		d.transport.Announce(&fx.Announces[i])
	}
	for _, w := range fx.Wakes {
		l.timers.set(w)
	}
	for i := range fx.Replies {
		l.callers.reply(&fx.Replies[i])
	}
	for _, k := range fx.Links {
		d.reach.SetNeighbour(k)
	}
	for _, n := range fx.Offences {
		d.transport.Offend(n, "replayed or forged result", 1)
	}
	d.watchers.changed(fx.Changed)
	fx.Reset()
	if cap(fx.Saves) > 2*maxRecords {
		fx.Saves = nil
	}
	l.steps, l.records = l.steps[:0], 0
}

// carryOutAttempts carries out what one step wants of attempts. Stops come first: they make room for the Starts.
func (l *loop) carryOutAttempts(from, to effectCounts) {
	fx, t := &l.fx, l.d.runner
	for i := range fx.Saves[from.saves:to.saves] {
		t.RecordSaved(&fx.Saves[from.saves+i])
		l.d.members.NoteRecord(&fx.Saves[from.saves+i])
	}
	for _, s := range fx.Stops[from.stops:to.stops] {
		t.Stop(s)
	}
	for _, x := range fx.Suspends[from.suspends:to.suspends] {
		t.Suspend(x)
	}
	for _, x := range fx.Fetches[from.fetches:to.fetches] {
		t.Fetch(x)
	}
	for _, s := range fx.Starts[from.starts:to.starts] {
		t.Start(s)
	}
	for _, x := range fx.Takes[from.takes:to.takes] {
		t.Take(x)
	}
}

// sendAll sends the messages of a batch that wait for its records, or (early) those that do not.
func (l *loop) sendAll(early bool) {
	for i := range l.fx.Sends {
		if s := &l.fx.Sends[i]; s.Msg.Kind.Early() == early {
			l.d.transport.Send(s)
		}
	}
}
