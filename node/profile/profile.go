package profile

import (
	"slices"

	"skep/balance"
	"skep/gossip"
	"skep/grid"
	"skep/requirement"
)

// Config is what a profile is told once.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // number of starts so far: orders the node's ads across restarts
	Name     string
	Capacity grid.Resources
	Speed    float64
	Engines  []string
	Private  bool
	Accept   *requirement.Expression // what is required of jobs; nil = nothing

	Prior  float64 // mean run time assumed for a class that no node has measured, seconds
	Gossip *gossip.Gossip
	Rand   *grid.Rand // jitter of the class that the node chooses itself
}

// Profile is what a node says about itself.
type Profile struct {
	cfg      Config
	made     uint64    // ads made in this boot
	spacedAt grid.Time // the next TimerAd is adGap after it or later
	wakeSet  bool      // a TimerAd is pending

	labels    []grid.Label // as advertised
	site      *balance.Site
	autoClass *autoClass // nil = the class is configured

	addrs   []string
	lowDisk bool // the disk is nearly full
	away    bool // what runs tasks elsewhere takes none
	hour    requirement.Hour
	availability
}

// New returns the profile of a node with the configured labels. It is available in full and has no addresses yet.
func New(cfg Config, labels []grid.Label) Profile {
	p := Profile{cfg: cfg, labels: labels, autoClass: newAutoClass(labels)}
	p.availability = availability{idleShare: 1, upShare: 1}
	if p.autoClass != nil {
		p.labels = p.autoClass.labels
	}
	p.site = SiteOf(p.labels, nil)
	return p
}

// SetAddrs sets the addresses at which the node may be dialled.
func (p *Profile) SetAddrs(now grid.Time, addrs []string, fx *grid.Effects) {
	p.addrs = slices.Clone(addrs)
	p.Changed(now, fx)
}

// SetLowDisk applies the driver's report that the disk is nearly full, or no longer so.
func (p *Profile) SetLowDisk(now grid.Time, low bool, fx *grid.Effects) {
	p.lowDisk = low
	p.Changed(now, fx)
}

// SetAway applies the driver's report that what runs tasks elsewhere takes none, or takes some again.
func (p *Profile) SetAway(now grid.Time, away bool, fx *grid.Effects) {
	p.away = away
	p.Changed(now, fx)
}

// SetHour applies the driver's report of the hour.
func (p *Profile) SetHour(now grid.Time, h requirement.Hour, fx *grid.Effects) {
	p.hour = h
	p.Changed(now, fx)
}

// Hour is the hour at this node, as far as its driver has said.
func (p *Profile) Hour() requirement.Hour { return p.hour }

// Name is the name that people are shown.
func (p *Profile) Name() string { return p.cfg.Name }

// Site is what the node's labels say to class-based policies; nil = nothing.
func (p *Profile) Site() *balance.Site { return p.site }
