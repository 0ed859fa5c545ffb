package node

import "skep/grid"

// Describe returns this node's ad as of now; it changes nothing.
func (n *Node) Describe(now grid.Time) *grid.Ad {
	ad := n.profile.Describe(n.load(now))
	return &ad
}

// inform gives the node perfect information about its connected peers, where a simulation asks for that.
func (n *parts) inform(now grid.Time) {
	if n.cfg.Truth == nil {
		return
	}
	for _, m := range n.connected() {
		ad := n.cfg.Truth(m.id)
		if ad == nil || m.view.Ad == nil {
			continue
		}
		n.gossip.Correct(now, m.view, ad)
		m.speed, m.cores = ad.Speed, int32(ad.Capacity.CPU)
		m.rates, m.borrowed = ad.Rates, true
	}
	n.policies.ColumnsChanged()
}
