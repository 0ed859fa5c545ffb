package profile

import (
	"slices"
	"time"

	"skep/grid"
)

// adGap is the minimum time between two TimerAds; changes within it are told together.
const adGap = time.Second

// Load is what the other parts of a node say of it, as of now.
type Load struct {
	Free     grid.Resources
	Backlog  time.Duration // expected time until a task that came now would start
	Work     grid.AdWork
	Rates    []grid.Rate // as published
	Draining bool
}

// Describe returns the node's current description. It changes nothing; Rates aliases the load's.
func (p *Profile) Describe(l Load) grid.Ad {
	l.Work.Accept, l.Work.Hour = p.cfg.Accept, p.hour
	return grid.Ad{
		Node: p.cfg.Self, Seq: grid.Seq{Boot: p.cfg.Boot, N: p.made}, Name: p.cfg.Name,
		Capacity: p.cfg.Capacity, Free: l.Free, Speed: p.cfg.Speed, Availability: p.Availability(),
		Backlog: l.Backlog, AdWork: l.Work,
		Labels: p.labels, Engines: p.cfg.Engines, Rates: l.Rates, Addrs: p.addrs,
		Coord:    p.cfg.Gossip.Coord(),
		Draining: l.Draining,
		Full:     p.lowDisk,
		Away:     p.away,
		Private:  p.cfg.Private,
	}
}

// Changed schedules a new ad: what the last one says may be outdated. There is none before the first.
func (p *Profile) Changed(now grid.Time, fx *grid.Effects) {
	if p.wakeSet || p.made == 0 {
		return
	}
	p.wakeSet = true
	fx.Wake(max(now, p.spacedAt.Add(adGap)), grid.TimerAd, 0)
}

// Wake handles TimerAd. It returns the next ad, or nil if the last one differs from it by so little that gossip's rule
// would not send it; then none is built.
func (p *Profile) Wake(now grid.Time, l Load) *grid.Ad {
	p.wakeSet = false
	p.Space(now)
	if draft := p.Describe(l); !p.cfg.Gossip.Worth(&draft) {
		return nil
	}
	return p.Next(l)
}

// Space delays the next TimerAd: an ad is sent now for another reason.
func (p *Profile) Space(now grid.Time) { p.spacedAt = now }

// Next returns the next ad of the node's sequence. Rates that have not changed are those of the last ad.
func (p *Profile) Next(l Load) *grid.Ad {
	p.made++
	ad := p.Describe(l)
	if last := p.cfg.Gossip.Ad(); last != nil && slices.Equal(last.Rates, ad.Rates) {
		ad.Rates = last.Rates
	} else {
		ad.Rates = slices.Clone(ad.Rates)
	}
	return &ad
}

// Last returns the last ad of the sequence: the node is about to stop.
func (p *Profile) Last(l Load) *grid.Ad {
	ad := p.Next(l)
	ad.Leaving = true
	return ad
}
