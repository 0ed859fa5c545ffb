package node

import (
	"cmp"
	"slices"

	"skep/grid"
)

// What may be forgotten to make room: the jobs of others that are over and whose files are here. Each owner has a list of his own, so
// that nobody looks through all jobs that are kept, for each file that comes when the room is full.

// spares notes that a job takes room, if it is over.
func (n *Node) spares(j *job) {
	if at := n.kept.find(j.id); at >= 0 {
		p := n.pair(j.lender())
		p.spare = slices.Insert(p.spare, n.among(p.spare, at), j)
	}
}

// unspares notes that it takes none any more. One that is no longer kept was the oldest.
func (n *Node) unspares(j *job) {
	p, k := n.pair(j.lender()), 0
	if at := n.kept.find(j.id); at >= 0 {
		k = n.among(p.spare, at)
	}
	if k < len(p.spare) && p.spare[k] == j {
		p.spare = slices.Delete(p.spare, k, k+1)
	}
}

// among returns where the job at a place of those kept stands in a list, or would.
func (n *Node) among(list []*job, at int) int {
	k, _ := slices.BinarySearchFunc(list, at, func(o *job, at int) int { return cmp.Compare(n.kept.find(o.id), at) })
	return k
}

// sortKept puts what is over into the order of the ends, after a restart.
func (n *Node) sortKept() {
	n.kept.sort()
	for _, p := range n.pairs.all {
		slices.SortFunc(p.spare, func(a, b *job) int { return cmp.Compare(n.kept.find(a.id), n.kept.find(b.id)) })
	}
}

// sacrifice forgets the oldest job of others that is over and whose files take room, of one owner if that is wanted.
func (n *Node) sacrifice(own bool, owner grid.NodeID, fx *grid.Effects) bool {
	var oldest *job
	at := 0
	for _, p := range n.pairs.all {
		if len(p.spare) == 0 || own && p.peer != owner {
			continue
		}
		if k := n.kept.find(p.spare[0].id); oldest == nil || k < at {
			oldest, at = p.spare[0], k
		}
	}
	if oldest == nil {
		return false
	}
	n.kept.remove(n.cfg.Self, at)
	n.forgetJob(oldest, fx)
	return true
}
