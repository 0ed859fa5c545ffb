package sim

import (
	"math"
	"time"

	"skep/grid"
)

// What a flooder sends to each peer, every misbehaveEvery: in a second, what the real driver admits of each kind. Of
// polls it admits 5,000, which shows nothing that 100 do not.
const (
	floodAds   = 1 // 20 a second
	floodPolls = 5
	floodFinds = 10
)

// misbehave does what a hostile node does periodically.
func (h *hostile) misbehave(fx *grid.Effects) {
	h.ticks++
	if h.has(Flooder) {
		h.flood(fx)
	}
	if h.has(Replayer) {
		h.replay(fx)
	}
	if h.has(Forger) {
		h.keeper.Act(fx)
	}
}

// flood sends ads without news, polls, and searches that nobody can answer.
func (h *hostile) flood(fx *grid.Effects) {
	if h.ownAd == nil {
		return
	}
	ad := *h.forgeAd(h.ownAd)
	ad.Seq.N = 1<<40 + h.ticks
	ad.Backlog = time.Duration(h.rand.Int64N(int64(time.Hour)))
	for _, to := range h.peers {
		for range floodAds {
			m := fx.Send(to, grid.KindDigest)
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
		}
		for range floodPolls {
			m := fx.Send(to, grid.KindPoll)
			m.Poll.ID, m.Poll.Class, m.Poll.Needs.CPU = h.rand.Uint64(), "flood", grid.CPU
			m.Poll.Speed, m.Poll.Cores, m.Poll.Mine = 1, grid.CPU, h.rand.Uint64()
			m.Poll.Rates = append(m.Poll.Rates, grid.Rate{Class: "flood", Alpha: h.rand.Float64() * 1e6, Mu: h.rand.Float64()})
		}
		for range floodFinds {
			h.impossibleSearch(&fx.Send(to, grid.KindFind).Find)
		}
	}
	if h.ticks%20 == 0 {
		h.impossibleSearch(&fx.Announce(grid.KindCall).Find)
	}
}

// impossibleSearch fills in a search for what nobody has.
func (h *hostile) impossibleSearch(f *grid.Find) {
	f.ID, f.Asker, f.Engine, f.Left, f.Within = h.rand.Uint64()|1, h.self, grid.EngineProcess, grid.MaxHops, time.Hour
	f.Needs.CPU = grid.CPU
	f.Needs.Labels = append(f.Needs.Labels[:0], grid.LabelNeed{Key: "nobody", Values: []string{"has this"}})
}

// recordAds keeps a sample of other nodes' ads.
func (h *hostile) recordAds(m *grid.Message) {
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil && ad.Node != h.self {
			if len(h.heardAds) < replayBuffer {
				h.heardAds = append(h.heardAds, *ad)
			} else if h.rand.IntN(16) == 0 { // so that old ones stay
				h.heardAds[h.rand.IntN(replayBuffer)] = *ad
			}
		}
	}
}

// recordSent keeps a sample of what it sent.
func (h *hostile) recordSent(m *grid.Message) {
	if len(h.sent) < replayBuffer {
		h.sent = append(h.sent, grid.Message{})
		copyMessage(&h.sent[len(h.sent)-1], m)
	} else if h.rand.IntN(16) == 0 {
		copyMessage(&h.sent[h.rand.IntN(replayBuffer)], m)
	}
}

// replay repeats recorded messages and ads to every peer.
func (h *hostile) replay(fx *grid.Effects) {
	for _, to := range h.peers {
		if len(h.sent) > 0 {
			old := &h.sent[h.rand.IntN(len(h.sent))]
			copyMessage(fx.Send(to, old.Kind), old)
		}
		m := fx.Send(to, grid.KindDigest)
		if len(h.heardAds) > 0 {
			ad := h.heardAds[h.rand.IntN(len(h.heardAds))]
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
		}
		if h.ownAd != nil {
			ad := *h.ownAd
			ad.Seq = grid.Seq{Boot: h.rand.Uint64(), N: h.rand.Uint64()}
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
		}
	}
}

// exaggerateAd makes an ad claim the best allowed values.
func exaggerateAd(ad *grid.Ad) {
	ad.Capacity.CPU = grid.MaxMillis
	ad.Free, ad.Backlog, ad.Speed = ad.Capacity, 0, 1e6
	exaggerateRates(ad.Rates)
}

func exaggerateRates(rates []grid.Rate) {
	for k := range rates {
		rates[k].Mu = grid.MaxRate
	}
}

// exaggerate makes the node's polls and answers consistent with its ad.
func exaggerate(m *grid.Message) {
	switch m.Kind {
	case grid.KindPoll:
		m.Poll.Speed, m.Poll.Cores = 1e6, grid.MaxMillis
		exaggerateRates(m.Poll.Rates)
	case grid.KindState:
		m.State.ECT, m.State.Backlog, m.State.Why = 0, 0, grid.WhyNone
		m.State.Waiting, m.State.Running, m.State.Ran, m.State.Rest = 0, 0, 0, 0
		m.State.Free = grid.Resources{CPU: grid.MaxMillis, Memory: grid.MaxMemory}
		m.State.Speed, m.State.Cores = 1e6, grid.MaxMillis
		exaggerateRates(m.State.Rates)
	}
}

// claimIdle makes a hole's answers those of an idle node.
func claimIdle(m *grid.Message, size grid.Resources) {
	if m.Kind == grid.KindState {
		s := &m.State
		s.ECT, s.Backlog, s.Why, s.Free = 0, 0, grid.WhyNone, size
		s.Waiting, s.Running, s.Ran, s.Rest = 0, 0, 0, 0
	}
}

// claimedRate is the arrival rate that a glutton claims.
const claimedRate = 1e6

// inflateRates makes rates those of a glutton: of its first class, and of some that it invents.
func inflateRates(rates []grid.Rate) []grid.Rate {
	if len(rates) > 0 {
		rates[0].Alpha = claimedRate
	}
	for c := byte('a'); c <= 'm' && len(rates) < grid.MaxRates; c++ {
		rates = append(rates, grid.Rate{Class: "~" + string(c), Alpha: claimedRate, Mu: 1})
	}
	return rates
}

// invalidFloats are numbers that no honest node sends.
var invalidFloats = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, -1e300, 5e-324}

func invalidTime(r *grid.Rand) time.Duration {
	return [...]time.Duration{-1, math.MinInt64, math.MaxInt64, -time.Hour}[r.IntN(4)]
}

// garbleAd puts an impossible value into an ad.
func garbleAd(ad *grid.Ad, r *grid.Rand) {
	switch r.IntN(6) {
	case 0:
		ad.Speed = invalidFloats[r.IntN(len(invalidFloats))]
	case 1:
		ad.Backlog = invalidTime(r)
	case 2:
		ad.Free.CPU = ad.Capacity.CPU + 1
	case 3:
		ad.Capacity.CPU, ad.Free.CPU = math.MinInt64, math.MaxInt64
	case 4:
		ad.Availability = invalidFloats[r.IntN(len(invalidFloats))]
	case 5:
		ad.Rates = append(ad.Rates, grid.Rate{Class: "x", Alpha: invalidFloats[r.IntN(len(invalidFloats))],
			Mu: invalidFloats[r.IntN(len(invalidFloats))]})
	}
}

// garbleMessage puts impossible values into a message.
func garbleMessage(m *grid.Message, r *grid.Rand) {
	some := func() float64 { return invalidFloats[r.IntN(len(invalidFloats))] }
	garbage := func(rates []grid.Rate) []grid.Rate {
		for k := range rates {
			rates[k].Alpha, rates[k].Mu = some(), some()
		}
		return rates
	}
	switch m.Kind {
	case grid.KindPoll:
		p := &m.Poll
		p.Speed, p.Cores, p.Rates = some(), grid.MilliCPU(invalidTime(r)), garbage(p.Rates)
	case grid.KindState:
		s := &m.State
		s.ECT, s.Backlog, s.Speed, s.Rates = invalidTime(r), invalidTime(r), some(), garbage(s.Rates)
		s.Free.CPU, s.Cores = grid.MilliCPU(invalidTime(r)), grid.MilliCPU(invalidTime(r))
	case grid.KindOffer:
		m.Offer.Lease, m.Offer.Age = invalidTime(r), invalidTime(r)
	case grid.KindResult:
		c := *m.Result
		c.Waited, c.Wall, c.CPU = invalidTime(r), invalidTime(r), invalidTime(r)
		m.Result = &c
	}
}
