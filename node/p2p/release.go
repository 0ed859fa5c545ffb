package p2p

import (
	"skep/grid"
)

// release carries the effects of a batch out: kind by kind in the order below, and within a kind in the
// order in which the steps asked. Nothing in it blocks.
func (l *loop) release() {
	d, fx := l.d, &l.fx
	for i := range fx.Saves {
		d.tasks.saved(&fx.Saves[i])
	}
	for i := range fx.Sends {
		l.send(&fx.Sends[i])
	}
	for i := range fx.Announces {
		l.announce(&fx.Announces[i])
	}
	for _, w := range fx.Wakes {
		l.timers.set(w)
	}
	for i := range fx.Fetches {
		d.fetches.start(fx.Fetches[i])
	}
	for _, s := range fx.Starts {
		d.tasks.start(s)
	}
	for _, s := range fx.Stops {
		d.tasks.stop(s)
	}
	for i := range fx.Replies {
		l.reply(&fx.Replies[i])
	}
	for _, k := range fx.Links {
		d.dialer.link(k)
	}
	d.watchers.changed(fx.Changed)
	fx.Reset()
}

// send encodes a message and queues it for its peer.
func (l *loop) send(s *grid.Send) {
	body, err := l.codec.Append(l.buf[:0], &s.Msg, l.d.ads.seal)
	if err != nil {
		l.d.counts.drop("unsendable")
		l.d.log.Error("message not sent", "kind", s.Msg.Kind, "error", err)
		return
	}
	l.buf = body
	l.d.peers.send(s.To, s.Msg.Kind, body)
}

func (l *loop) announce(m *grid.Message) {
	body, err := l.codec.Append(nil, m, l.d.ads.seal)
	if err != nil || len(body) > maxAnnounce {
		l.d.counts.drop("unsendable")
		l.d.log.Error("announcement not sent", "kind", m.Kind, "bytes", len(body), "error", err)
		return
	}
	l.d.announce.publish(m.Kind, body)
}
