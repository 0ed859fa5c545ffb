package sim

import (
	"slices"

	"skep/grid"
)

// copyMessage copies src into dst and reuses the memory of dst's slices. Ads, job specs and results are immutable and
// shared.
func copyMessage(dst, src *grid.Message) {
	digest, attempts, visited, reports := dst.Digest[:0], dst.Attempts[:0], dst.Find.Visited[:0], dst.Reports[:0]
	poll, state := dst.Poll.Rates[:0], dst.State.Rates[:0]
	options, answers := dst.Poll.Options[:0], dst.State.Options[:0]
	offer, barred := dst.Offer.Members[:0], dst.Offer.Barred[:0]
	members, finals := dst.Register.Members[:0], dst.Register.Entries[:0]
	*dst = *src
	dst.Offer.Members = append(offer, src.Offer.Members...)
	dst.Offer.Barred = append(barred, src.Offer.Barred...)
	dst.Register.Members = append(members, src.Register.Members...)
	dst.Register.Entries = append(finals, src.Register.Entries...)
	dst.Digest = append(digest, src.Digest...)
	dst.Attempts = append(attempts, src.Attempts...)
	dst.Reports = append(reports, src.Reports...)
	dst.Poll.Rates = append(poll, src.Poll.Rates...)
	dst.State.Rates = append(state, src.State.Rates...)
	dst.Poll.Options = append(options, src.Poll.Options...)
	dst.State.Options = append(answers, src.State.Options...)
	dst.Find.Visited = append(visited, src.Find.Visited...)
	dst.Find.Needs.Labels = copyLabels(src.Find.Needs.Labels)
}

func copyLabels(src []grid.LabelNeed) []grid.LabelNeed {
	if len(src) == 0 {
		return nil
	}
	dst := slices.Clone(src)
	for i := range dst {
		dst[i].Values = slices.Clone(dst[i].Values)
	}
	return dst
}

// poison overwrites the memory of a message that is dead after the step that received it.
func poison(m *grid.Message) {
	for i := range m.Digest {
		m.Digest[i] = grid.AdEntry{}
	}
	for i := range m.Attempts {
		m.Attempts[i] = grid.AttemptID{Attempt: grid.Attempt{Epoch: 1<<32 - 1, N: 1<<32 - 1}}
	}
	clear(m.Reports)
	for _, rates := range [...][]grid.Rate{m.Poll.Rates, m.State.Rates} {
		for i := range rates {
			rates[i] = grid.Rate{Class: "kept after the step", Alpha: -1, Mu: -1}
		}
	}
	clear(m.Poll.Options)
	clear(m.State.Options)
	clear(m.Find.Visited)
	clear(m.Offer.Members)
	clear(m.Offer.Barred)
	clear(m.Register.Members)
	clear(m.Register.Entries)
	for i := range m.Find.Needs.Labels {
		clear(m.Find.Needs.Labels[i].Values)
		m.Find.Needs.Labels[i] = grid.LabelNeed{Key: "kept after the step"}
	}
	m.Find.Needs.Labels = nil
}

// copyEffects copies effects into memory of their own, except messages that wait for no record.
func (w *World) copyEffects(src *grid.Effects) *grid.Effects {
	if len(w.freeEffects) == 0 {
		w.freeEffects = append(w.freeEffects, new(grid.Effects))
	}
	fx := w.freeEffects[len(w.freeEffects)-1]
	w.freeEffects = w.freeEffects[:len(w.freeEffects)-1]
	fx.Reset()
	fx.Saves = append(fx.Saves, src.Saves...)
	for k := range src.Sends {
		if s := &src.Sends[k]; !s.Msg.Kind.Early() {
			copyMessage(fx.Send(s.To, s.Msg.Kind), &s.Msg)
		}
	}
	for k := range src.Announces {
		copyMessage(fx.Announce(src.Announces[k].Kind), &src.Announces[k])
	}
	fx.Wakes = append(fx.Wakes, src.Wakes...)
	fx.Fetches = append(fx.Fetches, src.Fetches...)
	fx.Starts = append(fx.Starts, src.Starts...)
	fx.Suspends = append(fx.Suspends, src.Suspends...)
	fx.Stops = append(fx.Stops, src.Stops...)
	fx.Takes = append(fx.Takes, src.Takes...)
	fx.Replies = append(fx.Replies, src.Replies...)
	fx.Links = append(fx.Links, src.Links...)
	fx.Offences = append(fx.Offences, src.Offences...)
	fx.Changed = append(fx.Changed, src.Changed...)
	return fx
}

// copyEvent returns a copy of ev that remains valid after the step.
func copyEvent(ev *grid.Event) *grid.Event {
	c := *ev
	if ev.Msg != nil {
		c.Msg = new(grid.Message)
		copyMessage(c.Msg, ev.Msg)
	}
	c.Addrs = slices.Clone(ev.Addrs)
	return &c
}
