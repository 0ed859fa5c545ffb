package peers

import (
	"slices"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// Both sides of a match: what a job requires of nodes, what this node requires of jobs, and what a job would rather
// have.

// FitsSelf returns why this node could never run a job's tasks; WhyNone if it could.
func (p *Peers) FitsSelf(spec *grid.JobSpec) grid.Refusal {
	if r := p.self(spec); r.Why != grid.WhyHour {
		return r
	}
	return grid.Refusal{}
}

// AcceptsNow returns why this node does not take tasks of a job at this hour, or never does; WhyNone if it does.
func (p *Peers) AcceptsNow(spec *grid.JobSpec) grid.Refusal {
	if p.cfg.Gossip.Ad().Accept == nil {
		return grid.Refusal{}
	}
	return p.self(spec)
}

// self is what stands against a job here, at the hour that this node's newest ad may not say yet.
func (p *Peers) self(spec *grid.JobSpec) grid.Refusal {
	return discovery.Explain(spec, p.ownAd())
}

// ownAd is this node's newest ad, at the hour that it is.
func (p *Peers) ownAd() *grid.Ad {
	ad := p.cfg.Gossip.Ad()
	if hour := p.cfg.Profile.Hour(); ad.Hour != hour {
		now := *ad
		now.Hour, ad = hour, &now
	}
	return ad
}

// AddPreferred appends the node that a job ranks highest of those where its task would start at once, as far as is
// known, to the nodes that are polled, unless it is among them.
func (p *Peers) AddPreferred(spec *grid.JobSpec, known []balance.State, polled []grid.NodeID) []grid.NodeID {
	if spec.Rules.Rank == nil || len(polled) == 0 {
		return polled
	}
	if best := p.Prefer(spec, known); len(best) < len(known) && !slices.Contains(polled, best[0].Node) {
		polled = append(polled, best[0].Node)
	}
	return polled
}

// Prefer returns, of the nodes where a task would start at once, those that its job ranks highest. If it would start at
// none of them, or none has a rank, that is all: a rank keeps no task waiting.
func (p *Peers) Prefer(spec *grid.JobSpec, states []balance.State) []balance.State {
	if spec.Rules.Rank == nil {
		return states
	}
	var best []balance.State
	highest := 0.0
	for i := range states {
		s := &states[i]
		ad := p.adOf(s.Node)
		if ad == nil || s.Ready > 0 {
			continue
		}
		switch rank, known := discovery.Rank(spec, ad); {
		case !known || len(best) > 0 && rank < highest:
			continue
		case len(best) > 0 && rank > highest:
			best = best[:0]
			fallthrough
		default:
			best, highest = append(best, *s), rank
		}
	}
	if len(best) == 0 {
		return states
	}
	return best
}

// adOf is the newest ad of a node that is known here; nil = there is none.
func (p *Peers) adOf(id grid.NodeID) *grid.Ad {
	if id == p.cfg.Self {
		return p.cfg.Gossip.Ad()
	}
	if g := p.cfg.Gossip.Peer(id); g != nil {
		return g.Ad
	}
	return nil
}
