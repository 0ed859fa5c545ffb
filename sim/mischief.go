package sim

import (
	"math"
	"time"

	"skep/grid"
)

// What flooders send to each peer in a second is what the real driver lets in of each kind, polls apart: of those
// it lets in 5,000, which shows nothing that 100 do not.
const (
	floodAds   = 1 // a turn, so 20 a second
	floodPolls = 5
	floodFinds = 10
)

// mischief is what a hostile node does at its own time.
func (h *hostile) mischief(fx *grid.Effects) {
	h.turns++
	if h.is(Flooder) {
		h.flood(fx)
	}
	if h.is(Replayer) {
		h.replay(fx)
	}
}

// flood sends news of nothing, and asks for what nobody has.
func (h *hostile) flood(fx *grid.Effects) {
	if h.ad == nil {
		return
	}
	ad := *h.claim(h.ad)
	ad.Seq.N = 1<<40 + h.turns
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
			h.wish(&fx.Send(to, grid.KindFind).Find)
		}
	}
	if h.turns%20 == 0 {
		h.wish(&fx.Announce(grid.KindCall).Find)
	}
}

// wish fills in a search for what nobody has.
func (h *hostile) wish(f *grid.Find) {
	f.ID, f.Asker, f.Engine, f.Left, f.Within = h.rand.Uint64()|1, h.self, grid.EngineProcess, grid.MaxHops, time.Hour
	f.Needs.CPU = grid.CPU
	f.Needs.Labels = append(f.Needs.Labels[:0], grid.LabelNeed{Key: "nobody", Values: []string{"has this"}})
}

// listen keeps ads of others.
func (h *hostile) listen(m *grid.Message) {
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil && ad.Node != h.self {
			if len(h.heard) < replayKept {
				h.heard = append(h.heard, *ad)
			} else if h.rand.IntN(16) == 0 { // old ones stay for long
				h.heard[h.rand.IntN(replayKept)] = *ad
			}
		}
	}
}

// remember keeps what it said.
func (h *hostile) remember(m *grid.Message) {
	if len(h.said) < replayKept {
		h.said = append(h.said, grid.Message{})
		copyMessage(&h.said[len(h.said)-1], m)
	} else if h.rand.IntN(16) == 0 {
		copyMessage(&h.said[h.rand.IntN(replayKept)], m)
	}
}

// replay says things again, to anybody.
func (h *hostile) replay(fx *grid.Effects) {
	for _, to := range h.peers {
		if len(h.said) > 0 {
			old := &h.said[h.rand.IntN(len(h.said))]
			copyMessage(fx.Send(to, old.Kind), old)
		}
		m := fx.Send(to, grid.KindDigest)
		if len(h.heard) > 0 {
			ad := h.heard[h.rand.IntN(len(h.heard))]
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
		}
		if h.ad != nil {
			ad := *h.ad
			ad.Seq = grid.Seq{Boot: h.rand.Uint64(), N: h.rand.Uint64()}
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
		}
	}
}

// boastAd makes an ad the best that can be said.
func boastAd(ad *grid.Ad) {
	ad.Capacity.CPU = grid.MaxMillis
	ad.Free, ad.Backlog, ad.Speed = ad.Capacity, 0, 1e6
	boastRates(ad.Rates)
}

func boastRates(rates []grid.Rate) {
	for k := range rates {
		rates[k].Mu = grid.MaxRate
	}
}

// boast makes the node's polls and answers agree with its ad.
func boast(m *grid.Message) {
	switch m.Kind {
	case grid.KindPoll:
		m.Poll.Speed, m.Poll.Cores = 1e6, grid.MaxMillis
		boastRates(m.Poll.Rates)
	case grid.KindState:
		m.State.ECT, m.State.Backlog, m.State.Why = 0, 0, grid.WhyNone
		m.State.Waiting, m.State.Running, m.State.Ran, m.State.Rest = 0, 0, 0, 0
		m.State.Free = grid.Resources{CPU: grid.MaxMillis, Memory: grid.MaxMemory}
		m.State.Speed, m.State.Cores = 1e6, grid.MaxMillis
		boastRates(m.State.Rates)
	}
}

// beckon makes a hole's answers those of an idle node.
func beckon(m *grid.Message, size grid.Resources) {
	if m.Kind == grid.KindState {
		s := &m.State
		s.ECT, s.Backlog, s.Why, s.Free = 0, 0, grid.WhyNone, size
		s.Waiting, s.Running, s.Ran, s.Rest = 0, 0, 0, 0
	}
}

// gluttony is the arrival rate that a glutton claims.
const gluttony = 1e6

// gorge makes rates those of a glutton: of its first class, and of some that nobody else has heard of.
func gorge(rates []grid.Rate) []grid.Rate {
	if len(rates) > 0 {
		rates[0].Alpha = gluttony
	}
	for c := byte('a'); c <= 'm' && len(rates) < grid.MaxRates; c++ {
		rates = append(rates, grid.Rate{Class: "~" + string(c), Alpha: gluttony, Mu: 1})
	}
	return rates
}

// odd are numbers that no honest node says.
var odd = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, -1e300, 5e-324}

func oddTime(r *grid.Rand) time.Duration {
	return [...]time.Duration{-1, math.MinInt64, math.MaxInt64, -time.Hour}[r.IntN(4)]
}

// garbleAd puts what cannot be into an ad.
func garbleAd(ad *grid.Ad, r *grid.Rand) {
	switch r.IntN(6) {
	case 0:
		ad.Speed = odd[r.IntN(len(odd))]
	case 1:
		ad.Backlog = oddTime(r)
	case 2:
		ad.Free.CPU = ad.Capacity.CPU + 1
	case 3:
		ad.Capacity.CPU, ad.Free.CPU = math.MinInt64, math.MaxInt64
	case 4:
		ad.Availability = odd[r.IntN(len(odd))]
	case 5:
		ad.Rates = append(ad.Rates, grid.Rate{Class: "x", Alpha: odd[r.IntN(len(odd))], Mu: odd[r.IntN(len(odd))]})
	}
}

// garbleMessage puts what cannot be into a poll or an answer.
func garbleMessage(m *grid.Message, r *grid.Rand) {
	some := func() float64 { return odd[r.IntN(len(odd))] }
	garbage := func(rates []grid.Rate) []grid.Rate {
		for k := range rates {
			rates[k].Alpha, rates[k].Mu = some(), some()
		}
		return rates
	}
	switch m.Kind {
	case grid.KindPoll:
		p := &m.Poll
		p.Speed, p.Cores, p.Rates = some(), grid.MilliCPU(oddTime(r)), garbage(p.Rates)
	case grid.KindState:
		s := &m.State
		s.ECT, s.Backlog, s.Speed, s.Rates = oddTime(r), oddTime(r), some(), garbage(s.Rates)
		s.Free.CPU, s.Cores = grid.MilliCPU(oddTime(r)), grid.MilliCPU(oddTime(r))
	case grid.KindOffer:
		m.Offer.Lease, m.Offer.Age = oddTime(r), oddTime(r)
	case grid.KindResult:
		c := *m.Result
		c.Waited, c.Wall, c.CPU = oddTime(r), oddTime(r), oddTime(r)
		m.Result = &c
	}
}
