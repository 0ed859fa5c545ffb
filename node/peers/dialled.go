package peers

import (
	"slices"
	"time"

	"skep/grid"
)

// dialled is a node to which a connection was requested for tasks or registers, beyond the overlay's own.
type dialled struct {
	node  grid.NodeID
	until grid.Time
	asked grid.Time // when the connection was last requested
}

const (
	// keepDialled is how long such a connection is kept after a task last needed it.
	keepDialled = 10 * time.Minute

	// maxDialled bounds these connections. Members of other nodes' registers get half of them: whoever writes a
	// register names its members.
	maxDialled = 256
)

// Dial requests a connection to a node that fits a task or is a member of a register, once in a step.
func (p *Peers) Dial(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	p.dialAmong(now, id, maxDialled, fx)
}

// Reach reports whether a member of a job's register is connected; else it requests a connection. It returns false
// only if there are too many others.
func (p *Peers) Reach(now grid.Time, job grid.JobID, id grid.NodeID, fx *grid.Effects) bool {
	if p.Connected(id) {
		return true
	}
	most := maxDialled / 2
	if job.Origin == p.cfg.Self {
		most = maxDialled
	}
	return p.dialAmong(now, id, most, fx)
}

// dialAmong requests a connection, or returns false if there are that many others.
func (p *Peers) dialAmong(now grid.Time, id grid.NodeID, most int, fx *grid.Effects) bool {
	at := slices.IndexFunc(p.dialled, func(d dialled) bool { return d.node == id })
	switch {
	case at < 0 && len(p.dialled) >= most:
		return false
	case at < 0:
		at, p.dialled = len(p.dialled), append(p.dialled, dialled{node: id, asked: -1})
	}
	d := &p.dialled[at]
	if d.until = now.Add(keepDialled); d.asked != now {
		d.asked = now
		fx.Links = append(fx.Links, grid.Link{Peer: id, Keep: true})
	}
	return true
}

// DropDialled releases connections that no task has needed for keepDialled, except those to overlay neighbours.
func (p *Peers) DropDialled(now grid.Time, fx *grid.Effects) {
	p.dialled = slices.DeleteFunc(p.dialled, func(d dialled) bool {
		if d.until > now {
			return false
		}
		if g := p.cfg.Gossip.Peer(d.node); g == nil || !g.Neighbour {
			fx.Links = append(fx.Links, grid.Link{Peer: d.node})
		}
		return true
	})
}
