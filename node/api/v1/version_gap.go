package v1

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// VersionGap is that a node speaks another version of the control protocol than the node asked: neither gives the other
// work.
type VersionGap struct {
	Theirs uint64  `json:"theirs"`
	Ours   uint64  `json:"ours"`
	Seen   float64 `json:"seen_seconds" doc:"Since they last met."`
}

// Text says so, and what to do.
func (g *VersionGap) Text() string {
	which := "bring it up to date"
	if g.Theirs > g.Ours {
		which = "bring this node up to date"
	}
	return fmt.Sprintf("speaks version %d of the control protocol, and this node %d: %s", g.Theirs, g.Ours, which)
}

// VersionGaps are the nodes that speak another version of the control protocol, ordered by ID.
type VersionGaps []versionGap

type versionGap struct {
	id string
	VersionGap
}

// VersionGapsOf orders them.
func VersionGapsOf(by map[grid.NodeID]VersionGap) (all VersionGaps) {
	for n, g := range by {
		all = append(all, versionGap{n.String(), g})
	}
	slices.SortFunc(all, func(a, b versionGap) int { return strings.Compare(a.id, b.id) })
	return all
}

// node describes a node of which nothing else is known.
func (g *versionGap) node() Node {
	return Node{ID: g.id, State: NodeKnown, Refuses: g.Text(), Located: Located{Version: &g.VersionGap}}
}

// Known says of nodes that are known that they speak another version.
func (a VersionGaps) Known(nodes []Node) []Node {
	for i := range nodes {
		for k := range a {
			if n := &nodes[i]; n.ID == a[k].id && n.State != NodeConnected {
				n.Version, n.Refuses = &a[k].VersionGap, a[k].Text()
			}
		}
	}
	return nodes
}

// Mark does that, and adds the others.
func (a VersionGaps) Mark(nodes []Node) []Node {
	nodes = a.Known(nodes)
	for k := range a {
		if !slices.ContainsFunc(nodes, func(n Node) bool { return n.ID == a[k].id }) {
			nodes = append(nodes, a[k].node())
		}
	}
	return nodes
}

// Named returns those that a text names: the beginning of an ID, of so many characters at least.
func (a VersionGaps) Named(text string, least int) (found []Node) {
	for k := range a {
		if len(text) >= least && strings.HasPrefix(a[k].id, text) {
			found = append(found, a[k].node())
		}
	}
	return found
}

// Fitness says of tasks that they cannot go to these nodes, in place of what else was said of one.
func (a VersionGaps) Fitness(nodes []Fitness) []Fitness {
	for k := range a {
		at := slices.IndexFunc(nodes, func(f Fitness) bool { return f.Node == a[k].id })
		if at < 0 {
			nodes, at = append(nodes, Fitness{Node: a[k].id, News: a[k].Seen}), len(nodes)
		}
		nodes[at].Fits, nodes[at].Reason, nodes[at].Detail = false, a[k].Text(), ""
	}
	return nodes
}
