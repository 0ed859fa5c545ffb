package sim

import (
	"skep/grid"
)

// step feeds an event to a node that is up, and releases its effects as soon as its disk allows.
func (w *World) step(i int32, ev *grid.Event) {
	h := &w.hosts[i]
	if h.pausedUntil > w.now {
		h.deferred = append(h.deferred, copyEvent(ev))
		return
	}
	w.steps++
	w.recent[w.steps%uint64(len(w.recent))] = stepRecord{at: w.now, node: i, kind: ev.Kind, msg: kindOf(ev)}
	if w.tap.node == i {
		w.tap.record(w.local(i), ev)
	}
	if !w.cfg.NoDigest {
		w.digest.event(w.now, i, ev)
	}
	w.fx.Reset()
	h.member.Step(w.local(i), ev, &w.fx)
	if !w.cfg.NoDigest {
		w.digest.effects(&w.fx)
	}
	if w.cfg.Log != nil {
		w.cfg.Log(w.logLine(i, ev))
	}
	if w.stores != nil {
		w.checkStep(i)
	}
	forgets := w.forgets(i)
	if w.cfg.Check > CheckNothing && !forgets {
		w.books.Step(i, &w.fx)
	}
	if w.cfg.Check >= CheckViews && h.hostile == 0 && !forgets {
		w.books.Views(i)
	}
	w.write(i)
}

// release carries out effects whose records, and those of all earlier steps, are durable.
func (w *World) release(i int32, fx *grid.Effects) {
	h, now := &w.hosts[i], w.local(i)
	for k := range fx.Links {
		w.setLink(i, &fx.Links[k])
	}
	for k := range fx.Fetches {
		w.fetch(i, &fx.Fetches[k])
	}
	for k := range fx.Stops {
		w.stopRun(i, &fx.Stops[k])
	}
	for k := range fx.Suspends {
		w.suspendRun(i, &fx.Suspends[k])
	}
	for k := range fx.Starts {
		if s := &fx.Starts[k]; s.Until != 0 && now >= s.Until {
			h.startedTooLate = append(h.startedTooLate, s.Attempt)
			w.push(w.now, kindLate, i, 0, 0)
			continue
		}
		w.startRun(i, &fx.Starts[k])
	}
	for k := range fx.Takes {
		w.take(i, &fx.Takes[k])
	}
	for k := range fx.Replies {
		w.reply(i, &fx.Replies[k])
	}
	if len(fx.Sends) > 1 {
		w.fetchConns(i, fx.Sends)
	}
	for k := range fx.Sends {
		w.sendChecked(i, &fx.Sends[k])
	}
	for k := range fx.Announces {
		w.books.Advertise(i, fx.Announces[k].Digest)
		w.announce(i, &fx.Announces[k])
	}
	for _, peer := range fx.Offences {
		w.countOffence(i, peer)
	}
	for _, wake := range fx.Wakes {
		if wake.At != grid.Never {
			w.push(max(w.now, h.worldTime(wake.At)), kindWake, i, uint8(wake.Timer.Kind), wake.Timer.Key)
		}
	}
	if len(w.aims) > 0 {
		w.aimAtAll(i, fx)
	}
}

// sendChecked checks and sends a message.
func (w *World) sendChecked(i int32, s *grid.Send) {
	if w.cfg.Check > CheckNothing && w.hosts[i].hostile == 0 && (!w.forgets(i) || s.Msg.Kind == grid.KindResult) &&
		(s.Msg.Kind != grid.KindResultAck || w.hosts[w.index(s.To)].hostile == 0) { // who never had it may be told so
		w.books.Send(i, &s.Msg)
	}
	w.checkKept(i, s)
	w.send(i, s.To, &s.Msg)
}

// kindOf returns the kind of the message in ev, 0 if there is none.
func kindOf(ev *grid.Event) grid.Kind {
	if ev.Msg == nil {
		return 0
	}
	return ev.Msg.Kind
}
