package sim

import (
	"fmt"
	"strings"

	"skep/grid"
)

// DigestOf returns a hash of a step's effects. Two steps with the same digest did the same.
func DigestOf(fx *grid.Effects) uint64 {
	var d digest
	d.effects(fx)
	return uint64(d)
}

// DescribeEvent returns a line of text about an event.
func DescribeEvent(ev *grid.Event) string {
	var b strings.Builder
	b.WriteString(eventName(ev.Kind, kindOf(ev)))
	if !ev.Peer.IsZero() {
		b.WriteString(" from " + ev.Peer.Short())
	}
	switch ev.Kind {
	case grid.EvWake:
		fmt.Fprintf(&b, " timer %d/%d", ev.Timer.Kind, ev.Timer.Key)
	case grid.EvSubmit, grid.EvCancel:
		b.WriteString(" " + ev.Job.Short())
	case grid.EvStarted, grid.EvEnded, grid.EvFetched:
		b.WriteString(" " + ev.Attempt.Task.Job.Short() + fmt.Sprintf("/%d#%v", ev.Attempt.Task.Index, ev.Attempt.Attempt))
	}
	if ev.Kind == grid.EvAvailable {
		fmt.Fprintf(&b, " %.3g left, up for %.3g", ev.Left, ev.Up)
	}
	if h := ev.Hour; h.Known {
		fmt.Fprintf(&b, " hour %d of day %d", h.OfDay, h.Day)
	}
	if ev.Msg != nil {
		messageText(&b, ev.Msg)
	}
	if ev.Err != "" {
		b.WriteString(" error " + ev.Err)
	}
	return b.String()
}

// Describe returns a line of text about a step's effects.
func Describe(fx *grid.Effects) string {
	var b strings.Builder
	part := func(format string, args ...any) {
		if b.Len() > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, format, args...)
	}
	for k := range fx.Saves {
		part("save %s", saveName(&fx.Saves[k]))
	}
	for k := range fx.Sends {
		part("%v to %s", fx.Sends[k].Msg.Kind, fx.Sends[k].To.Short())
		messageText(&b, &fx.Sends[k].Msg)
	}
	for k := range fx.Announces {
		part("announce %v", fx.Announces[k].Kind)
		messageText(&b, &fx.Announces[k])
	}
	for _, w := range fx.Wakes {
		part("wake %d/%d at %d", w.Timer.Kind, w.Timer.Key, int64(w.At))
	}
	for k := range fx.Fetches {
		part("fetch %s", attemptName(fx.Fetches[k].Attempt))
	}
	for k := range fx.Starts {
		part("start %s", attemptName(fx.Starts[k].Attempt))
	}
	for _, x := range fx.Suspends {
		part("suspend %s, resume %v", attemptName(x.Attempt), x.Resume)
	}
	for k := range fx.Stops {
		part("stop %s", attemptName(fx.Stops[k].Attempt))
	}
	for k := range fx.Replies {
		part("reply %d %s", fx.Replies[k].Caller, fx.Replies[k].Err)
	}
	for k := range fx.Links {
		part("link %s %v", fx.Links[k].Peer.Short(), fx.Links[k].Keep)
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return b.String()
}

// messageText appends the relevant fields of a message.
func messageText(b *strings.Builder, m *grid.Message) {
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil {
			fmt.Fprintf(b, " ad %s %d.%d", ad.Node.Short(), ad.Seq.Boot, ad.Seq.N)
		}
	}
	switch m.Kind {
	case grid.KindPoll:
		fmt.Fprintf(b, " %d %s %v", m.Poll.ID, m.Poll.Class, m.Poll.Rates)
	case grid.KindState:
		fmt.Fprintf(b, " %d %v %v", m.State.ID, m.State.ECT, m.State.Rates)
	}
	attemptsText(b, m)
}

// TraceEvent is one call of a node's Step: the node's clock, and a copy of the event.
type TraceEvent struct {
	Now   grid.Time
	Event *grid.Event
}

// tap records the events of a node.
type tap struct {
	node   int32
	most   int
	events []TraceEvent
}

func (t *tap) record(now grid.Time, ev *grid.Event) {
	if len(t.events) < t.most {
		t.events = append(t.events, TraceEvent{Now: now, Event: copyEvent(ev)})
	}
}
