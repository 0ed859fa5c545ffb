package credentials

import (
	"slices"

	"skep/grid"
	"skep/node/certificate"
)

// Roles returns what this node may do: as its certificate says, or, while it has none, its invite.
func (k *Keeper) Roles() certificate.Roles {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ticket != nil:
		return k.ticket.Invite.Roles
	case k.own != nil:
		return k.own.Roles
	}
	return 0
}

// Of returns the certificate that a node has shown last; nil if it has shown none.
func (k *Keeper) Of(n grid.NodeID) *certificate.Chain {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n == k.cfg.Self {
		return k.own
	}
	return k.known[n]
}

// Has reports whether a node has shown a certificate with a role.
func (k *Keeper) Has(n grid.NodeID, role certificate.Roles) bool {
	c := k.Of(n)
	return c != nil && c.Roles.Has(role)
}

// MayRelay reports whether a node, or this one, has the role relay.
func (k *Keeper) MayRelay(n grid.NodeID) bool {
	if n == k.cfg.Self {
		return k.Roles().Has(certificate.Relay)
	}
	return k.Has(n, certificate.Relay)
}

// remember keeps the certificate that a node has shown, and forgets that of the node that was met the longest ago.
// The caller holds mu.
func (k *Keeper) remember(c *certificate.Chain) {
	if k.known[c.Node] == nil {
		if len(k.order) >= maxKnown {
			delete(k.known, k.order[0])
			k.order = k.order[1:]
		}
		k.order = append(k.order, c.Node)
	} else if i := slices.Index(k.order, c.Node); i >= 0 {
		k.order = append(slices.Delete(k.order, i, i+1), c.Node)
	}
	k.known[c.Node] = c
}

// maySubmit reports whether a node may hand a job of an origin to others: the origin may submit. Where the origin's
// certificate was never seen the one of the node that has taken the job over counts: else a node without the role could
// name an origin that there is not.
func (k *Keeper) maySubmit(origin, from grid.NodeID) bool {
	if origin == k.cfg.Self {
		return true
	}
	if c := k.Of(origin); c != nil {
		return c.Roles.Has(certificate.Submit)
	}
	return k.Has(from, certificate.Submit)
}

// Refuses returns why a message is not taken: its sender lacks a role for it. "" = it is taken. A node that does not
// run tasks of others is never chosen, as its answers to polls are none.
func (k *Keeper) Refuses(from grid.NodeID, m *grid.Message) (why string) {
	switch m.Kind {
	case grid.KindOffer:
		if !k.maySubmit(m.Offer.ID.Task.Job.Origin, from) {
			return "role submit"
		}
	case grid.KindWrite:
		if !k.maySubmit(m.Register.Job.Origin, from) {
			return "role submit"
		}
	case grid.KindState, grid.KindPull, grid.KindAccept:
		if !k.Has(from, certificate.Run) {
			return "role run"
		}
	}
	return ""
}
