package node

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Evictable jobs: jobs of other origins that are over and whose files are stored here. Each owner has its own list,
// so that making room does not scan the archive for each file.

// addEvictable adds a job whose files take room, if it is over.
func (n *Node) addEvictable(j *job) {
	if at := n.archive.find(j.id); at >= 0 {
		p := n.accounts.of(j.chargedTo())
		p.evictable = slices.Insert(p.evictable, n.evictablePlace(p.evictable, at), j)
	}
}

// removeEvictable removes a job whose files take no room any more. One that has left the archive was the oldest.
func (n *Node) removeEvictable(j *job) {
	p, k := n.accounts.of(j.chargedTo()), 0
	if at := n.archive.find(j.id); at >= 0 {
		k = n.evictablePlace(p.evictable, at)
	}
	if k < len(p.evictable) && p.evictable[k] == j {
		p.evictable = slices.Delete(p.evictable, k, k+1)
	}
}

// evictablePlace returns the place, in a list of evictable jobs, of the job at place at of the archive.
func (n *Node) evictablePlace(list []*job, at int) int {
	k, _ := slices.BinarySearchFunc(list, at, func(o *job, at int) int { return cmp.Compare(n.archive.find(o.id), at) })
	return k
}

// sortArchive orders the archive and the evictable lists by the jobs' ends, after a restart.
func (n *Node) sortArchive() {
	n.archive.sort()
	for p := range n.accounts.by.All() {
		slices.SortFunc(p.evictable, func(a, b *job) int { return cmp.Compare(n.archive.find(a.id), n.archive.find(b.id)) })
	}
}

// evictJob forgets the oldest evictable job, of that owner only if own is set. It reports false if there is none.
func (n *Node) evictJob(own bool, owner grid.NodeID, fx *grid.Effects) bool {
	var oldest *job
	at := 0
	for p := range n.accounts.by.All() {
		if len(p.evictable) == 0 || own && p.payer != owner {
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
