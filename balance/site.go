package balance

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Site is where a node stands and what it is kept for [4, section 3.4]. It is immutable and shared by many
// states.
type Site struct {
	Cluster string // that the node belongs to; "" = one of its own
	Class   string // of the tasks that it is kept for; "" = it takes every class
	Closed  bool   // its class is not known: only an answer tells it
}

// serves reports whether a node is known to take tasks of a class.
func (s *State) serves(class string) bool {
	return s.Site == nil || !s.Site.Closed && (s.Site.Class == "" || s.Site.Class == class)
}

// may reports whether it is worth asking for a class.
func (s *State) may(class string) bool { return s.Site != nil && s.Site.Closed || s.serves(class) }

// cluster is the name of a cluster; a node without one is named by itself.
type cluster struct {
	name string
	lone grid.NodeID
}

func clusterOf(s *Site, id grid.NodeID) cluster {
	if s == nil || s.Cluster == "" {
		return cluster{lone: id}
	}
	return cluster{name: s.Cluster}
}

func (c cluster) compare(d cluster) int {
	return cmp.Or(cmp.Compare(c.name, d.name), c.lone.Compare(d.lone))
}

// before reports whether c comes before d going round from a start on.
func (c cluster) before(d, start cluster) bool {
	if x, y := c.compare(start) < 0, d.compare(start) < 0; x != y {
		return y
	}
	return c.compare(d) < 0
}

// ring is the clusters of a view, in order, each with the positions of its nodes in order.
type ring struct {
	clusters []cluster
	first    []int32 // by cluster: where its nodes begin; one more than there are clusters
	nodes    []int32

	ids   []grid.NodeID // what it was made of
	sites []*Site
}

// look makes the ring of a view. Views of the same nodes follow one another, and then it stays.
func (r *ring) look(states []State) {
	if r.same(states) {
		return
	}
	r.ids, r.sites, r.nodes = r.ids[:0], r.sites[:0], r.nodes[:0]
	for k := range states {
		r.ids, r.sites, r.nodes = append(r.ids, states[k].Node), append(r.sites, states[k].Site), append(r.nodes, int32(k))
	}
	of := func(k int32) cluster { return clusterOf(r.sites[k], r.ids[k]) }
	slices.SortStableFunc(r.nodes, func(a, b int32) int { return of(a).compare(of(b)) })
	r.clusters, r.first = r.clusters[:0], r.first[:0]
	for x, k := range r.nodes {
		if c := of(k); x == 0 || c != r.clusters[len(r.clusters)-1] {
			r.clusters, r.first = append(r.clusters, c), append(r.first, int32(x))
		}
	}
	r.first = append(r.first, int32(len(r.nodes)))
}

func (r *ring) same(states []State) bool {
	if len(states) != len(r.ids) {
		return false
	}
	for k := range states {
		if states[k].Site != r.sites[k] || states[k].Node != r.ids[k] {
			return false
		}
	}
	return true
}

// at returns where a cluster stands, or would.
func (r *ring) at(c cluster) (int, bool) {
	return slices.BinarySearchFunc(r.clusters, c, cluster.compare)
}

// of returns the positions of the nodes of the k-th cluster.
func (r *ring) of(k int) []int32 { return r.nodes[r.first[k]:r.first[k+1]] }

// from returns where the clusters after home begin, and how many they are; with home itself those from home on.
func (r *ring) from(home cluster, itself bool) (at, n int) {
	at, here := r.at(home)
	n = len(r.clusters)
	if here && !itself {
		at++
		n--
	}
	return at, n
}

// nth is a cluster, counted going round.
func (r *ring) nth(k int) cluster { return r.clusters[k%len(r.clusters)] }
