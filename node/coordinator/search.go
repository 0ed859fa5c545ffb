package coordinator

import (
	"fmt"
	"slices"

	"skep/discovery"
	"skep/grid"
)

// SearchDone resumes the tasks that waited for a search.
func (c *Coordinator) SearchDone(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		c.peers.Dial(now, f.Ad.Node, fx)
		c.readmit(now, f.Ad, fx)
	}
	for _, l := range slices.Clone(c.live.waiting.list) {
		if l.search != f.ID || l.phase != waiting {
			continue
		}
		l.search = 0
		if f.Ad != nil {
			c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch, Node: f.Ad.Node,
				Refusal: grid.Refusal{Detail: c.searchMethod(&f)}})
		}
		if f.Ad == nil || l.NeverFits(f.Ad.Node) { // another search would find the same node
			l.job.noSearchBefore = now.Add(searchRetryAfter)
		} else if why := c.notReady(f.Ad.Node, l.job.spec); why != "" {
			if l.tries++; l.tries > maxDials {
				l.job.noSearchBefore = now.Add(searchRetryAfter)
			}
			c.dequeue(l)
			c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: why}, fx)
			continue
		}
		l.lookAgain = true // other tasks of its job may wait for this one
		c.resumeTask(l)
	}
}

// readmit puts a connected node that a search found back into the view if newer peers have displaced it: only nodes in
// the view can be given tasks, and the same search would find the same node again.
func (c *Coordinator) readmit(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if c.peers.Connected(ad.Node) && c.gossip.Peer(ad.Node) == nil {
		c.gossip.Up(now, ad.Node, 0, fx)
		c.gossip.Hear(now, c.cfg.Self, []grid.AdEntry{{Ad: ad}}, fx, c.AdNews(now))
	}
}

// notReady returns why tasks cannot yet be placed on a node that a search found; "" = they can. The view may know newer
// facts than the search.
func (c *Coordinator) notReady(id grid.NodeID, spec *grid.JobSpec) string {
	if !c.peers.Connected(id) {
		return "a node that fits is being dialled"
	}
	if g := c.gossip.Peer(id); !c.peers.TakesWork(id) || g == nil || g.Ad == nil ||
		discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
		return "a node that was found says that it does not fit"
	}
	return ""
}

// searchMethod describes how a node was found.
func (c *Coordinator) searchMethod(f *discovery.Found) string {
	if f.Called {
		return "by a call"
	}
	return fmt.Sprintf("hops: %d, by %s", f.Hops, c.cfg.Forward)
}
