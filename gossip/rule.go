package gossip

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"skep/grid"
)

// rule says how likely the ad of p, which is news, is handed on now: 0 never, 1 always. Chance is drawn
// once for each ad, not for each neighbour, and after the product, so a rule itself draws nothing.
type rule func(c *Config, now grid.Time, p *Peer) float64

var rules = map[string]rule{
	"universal":        universal,
	"probabilistic":    probabilistic,
	"change_sensitive": changeSensitive,
}

// Rules lists the names of the dissemination rules, in order.
func Rules() []string {
	names := make([]string, 0, len(rules))
	for n := range rules {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// universal hands everything on: a flood, in which every node hands on each ad once.
func universal(*Config, grid.Time, *Peer) float64 { return 1 }

// probabilistic hands on what comes from far less often [2], [3]:
//
//	P = max(PMin, P0 · Decay^hops)
//
// where hops counts the links the ad has come, 1 at the origin's neighbours.
func probabilistic(c *Config, _ grid.Time, p *Peer) float64 {
	return max(c.PMin, c.P0*math.Pow(c.Decay, float64(p.Hops)))
}

// changeSensitive hands on what differs enough from what this node handed on last of that origin [2], [3]:
//
//	P = 1 if Delta ≥ Theta, or nothing was handed on for Tmax; else 0
func changeSensitive(c *Config, now grid.Time, p *Peer) float64 {
	if p.sent == nil || now.Sub(p.sentAt) >= c.Tmax || Delta(p.sent, p.Ad, c.BacklogScale) >= c.Theta {
		return 1
	}
	return 0
}

// product is several rules that must all agree.
type product struct {
	parts []rule
	gated bool // change_sensitive is among them: the own ad is held back too
}

func (r *product) chance(c *Config, now grid.Time, p *Peer) float64 {
	v := 1.0
	for _, part := range r.parts {
		v *= part(c, now, p)
	}
	return v
}

// parseRule reads names joined by "*".
func parseRule(s string) (product, error) {
	var r product
	for _, name := range strings.Split(s, "*") {
		name = strings.TrimSpace(name)
		part, ok := rules[name]
		if !ok {
			return r, fmt.Errorf("gossip: rule %q: %q is not known: want %s, joined by *", s, name, strings.Join(Rules(), ", "))
		}
		r.parts = append(r.parts, part)
		r.gated = r.gated || name == "change_sensitive"
	}
	return r, nil
}
