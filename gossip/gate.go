package gossip

import (
	"cmp"
	"strings"

	"skep/grid"
)

// changeSensitive forwards an ad that differs enough from what this node last forwarded of that origin, which each
// forwarder remembers for itself [2], [3]:
//
//	hard: P = 1 if Delta ≥ Theta, or nothing was forwarded for Tmax; else 0
//	soft: P = min(1, Delta/Theta), and 1 if nothing was forwarded for Tmax
//
// The origin sends its own ad by the same gate.
func changeSensitive(r *product, param string) (rule, error) {
	r.gated = true
	mode, rest, _ := strings.Cut(param, ":")
	if mode == "soft" {
		r.soft, param = true, rest
	}
	if param != "" {
		x, err := fraction(param)
		if err != nil {
			return nil, err
		}
		r.theta = x
	}
	return (*Gossip).gate, nil
}

func (g *Gossip) gate(now grid.Time, p *Peer) float64 {
	if p.sent == nil || now.Sub(p.sentAt) >= g.cfg.Tmax {
		return 1
	}
	return g.open(g.delta(p.sent, p.Ad))
}

// open returns the probability that the gate passes a change.
func (g *Gossip) open(d float64) float64 {
	switch {
	case d >= g.theta():
		return 1
	case g.rule.soft:
		return d / g.theta()
	}
	return 0
}

func (g *Gossip) delta(a, b *grid.Ad) float64 { return Delta(a, b, g.cfg.BacklogScale) }

// theta returns the threshold of the rule.
func (g *Gossip) theta() float64 { return cmp.Or(g.rule.theta, defaultTheta) }

// Worth reports whether an own ad differs enough from the last one to be sent before the refresh; the first always
// does.
func (g *Gossip) Worth(ad *grid.Ad) bool {
	if g.ad == nil {
		return true
	}
	d := g.delta(g.ad, ad)
	return d >= g.theta() || (g.rule.soft || g.rule.adapt != nil) && d > 0
}

// changed reports whether the own ad differs enough from what was last sent. A change that is reversed within MinGap
// is never sent. For a soft gate the draw is made once, when the ad is new.
func (g *Gossip) changed(now grid.Time, isNew bool) bool {
	d := g.delta(g.emitted, g.ad)
	if g.rule.adapt != nil {
		g.rule.adapt.owe(now, d)
	}
	switch {
	case d <= 0:
		return false
	case !g.rule.gated || d >= g.theta():
		return true
	}
	return g.rule.soft && (!isNew || g.rand.Float64() < g.open(d))
}

// ready returns when a changed own ad may be sent: MinGap after the last one, and if it only reverts to what was sent
// before that, Hold after it, so that a load that alternates between two values is not sent each time.
func (g *Gossip) ready() grid.Time {
	if g.rule.adapt != nil {
		return max(g.rule.adapt.ready(), g.emitAt.Add(g.cfg.MinGap))
	}
	if g.before != nil && g.delta(g.before, g.ad) < g.theta() {
		return g.emitAt.Add(g.cfg.Hold)
	}
	return g.emitAt.Add(g.cfg.MinGap)
}

// urgent reports whether news that the rule forwards is worth a digest of its own: else it is a heartbeat, which is
// sent with the next digest.
func (g *Gossip) urgent(now grid.Time, p *Peer) bool {
	if g.rule.adapt != nil && p.sent != nil {
		return g.worthPassing(now, p)
	}
	if !g.rule.gated || p.sent == nil || g.delta(p.sent, p.Ad) >= g.theta() {
		return true
	}
	return g.rule.soft && now.Sub(p.sentAt) < g.cfg.Tmax
}
