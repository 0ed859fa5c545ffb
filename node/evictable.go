package node

import (
	"cmp"
	"slices"

	"skep/grid"
)

// What may be forgotten to make room: the jobs of others that are over and whose files are here. Each owner has a list of his own, so
// that nobody looks through all jobs that are kept, for each file that comes when the room is full.

// addEvictable notes that a job takes room, if it is over.
func (n *Node) addEvictable(j *job) {
	if at := n.archive.find(j.id); at >= 0 {
		p := n.coMember(j.chargedTo())
		p.evictable = slices.Insert(p.evictable, n.evictablePlace(p.evictable, at), j)
	}
}

// removeEvictable notes that it takes none any more. One that is no longer kept was the oldest.
func (n *Node) removeEvictable(j *job) {
	p, k := n.coMember(j.chargedTo()), 0
	if at := n.archive.find(j.id); at >= 0 {
		k = n.evictablePlace(p.evictable, at)
	}
	if k < len(p.evictable) && p.evictable[k] == j {
		p.evictable = slices.Delete(p.evictable, k, k+1)
	}
}

// evictablePlace returns where the job at a place of those kept stands in a list, or would.
func (n *Node) evictablePlace(list []*job, at int) int {
	k, _ := slices.BinarySearchFunc(list, at, func(o *job, at int) int { return cmp.Compare(n.archive.find(o.id), at) })
	return k
}

// sortArchive puts what is over into the order of the ends, after a restart.
func (n *Node) sortArchive() {
	n.archive.sort()
	for _, p := range n.coMembers.all {
		slices.SortFunc(p.evictable, func(a, b *job) int { return cmp.Compare(n.archive.find(a.id), n.archive.find(b.id)) })
	}
}

// evictJob forgets the oldest job of others that is over and whose files take room, of one owner if that is wanted.
func (n *Node) evictJob(own bool, owner grid.NodeID, fx *grid.Effects) bool {
	var oldest *job
	at := 0
	for _, p := range n.coMembers.all {
		if len(p.evictable) == 0 || own && p.peer != owner {
			continue
		}
		if k := n.archive.find(p.evictable[0].id); oldest == nil || k < at {
			oldest, at = p.evictable[0], k
		}
	}
	if oldest == nil {
		return false
	}
	n.archive.remove(n.cfg.Self, at)
	n.forgetJob(oldest, fx)
	return true
}
