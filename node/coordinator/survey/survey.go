package survey

import (
	"fmt"
	"strings"
	"time"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/exclusion"
)

// Peers are the other nodes as far as they are connected.
type Peers interface {
	Connected(id grid.NodeID) bool
	HidesJobs(id grid.NodeID) bool // from callers who may not see them
	TakesWork(id grid.NodeID) bool
	Dial(now grid.Time, id grid.NodeID, fx *grid.Effects)
}

// Survey is what is known of the nodes.
type Survey struct {
	Peers  Peers
	Known  []*gossip.Peer
	Expire time.Duration // the view keeps a silent node for so long
}

// Found is what a survey has found.
type Found struct {
	Busy    grid.Refusal  // why the last one that fits refuses for now; WhyNone = none does
	Dialled bool          // one that fits is not connected
	Exposes []grid.NodeID // those that fit, and would show the job to callers who may not see it
}

// Look looks for nodes that may run a task later, and dials those that fit and are not connected. busy is why this node
// refuses it, or a node that was asked.
func (s *Survey) Look(now grid.Time, spec *grid.JobSpec, tried *exclusion.Set, busy grid.Refusal,
	fx *grid.Effects) (f Found) {
	f.Busy = busy
	drain := true
	for _, g := range s.Known {
		if g.Ad == nil || tried.NeverFits(g.Ad.Node) {
			continue
		}
		why, up := discovery.Now(&spec.Needs, g.Ad), s.Peers.Connected(g.Ad.Node)
		if suits := discovery.Suits(spec, g.Ad); suits == grid.WhyHour {
			why.Why = suits
		} else if suits != grid.WhyNone {
			continue
		}
		if up && spec.Access() == grid.AccessOwner && !s.Peers.HidesJobs(g.Ad.Node) {
			f.Exposes = append(f.Exposes, g.Ad.Node)
			continue
		}
		if why.Why != grid.WhyNone && (up || now.Sub(g.Fresh()) < s.Expire) {
			f.Busy = why // a node that drained and left is expected back until the view drops others
			drain = drain && why.Why == grid.WhyDrain
		} else if !up {
			f.Dialled = true
			s.Peers.Dial(now, g.Ad.Node, fx)
		}
	}
	if f.Busy.Why == grid.WhyDrain && drain && !f.Dialled {
		f.Busy.Detail = "only nodes that drain have what it needs"
	}
	return f
}

// Reasons lists each known node's reason for not running a task, that of the node with the ad self first.
func (s *Survey) Reasons(spec *grid.JobSpec, tried *exclusion.Set, self *grid.Ad) string {
	var b strings.Builder
	add := func(name string, r grid.Refusal) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", name, r.Why)
		if r.Detail != "" {
			fmt.Fprintf(&b, " (%s)", r.Detail)
		}
	}
	why := func(ad *grid.Ad) grid.Refusal {
		if why := tried.Reason(ad.Node); why.Why != grid.WhyNone {
			return why
		}
		return discovery.Explain(spec, ad)
	}
	add("this node", why(self))
	for _, g := range s.Known {
		if g.Ad != nil && b.Len() < grid.MaxText {
			name := g.Ad.Name
			if name == "" {
				name = g.Ad.Node.Short()
			}
			r := why(g.Ad)
			if r.Why == grid.WhyNone {
				r.Why = grid.WhyGone
			}
			add(name, r)
		}
	}
	return b.String()
}

// NotReady returns why tasks cannot yet be placed on a node that a search found; "" = they can. The view may know newer
// facts than the search: g is the node in it, nil = it is not.
func NotReady(id grid.NodeID, spec *grid.JobSpec, g *gossip.Peer, peers Peers) string {
	if !peers.Connected(id) {
		return "a node that fits is being dialled"
	}
	if !peers.TakesWork(id) || g == nil || g.Ad == nil || discovery.Suits(spec, g.Ad) != grid.WhyNone {
		return "a node that was found says that it does not fit"
	}
	return ""
}

// Method describes how a search found a node; by is its rule.
func Method(f *discovery.Found, by string) string {
	if f.Called {
		return "by a call"
	}
	return fmt.Sprintf("hops: %d, by %s", f.Hops, by)
}
