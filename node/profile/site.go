package profile

import (
	"skep/balance"
	"skep/grid"
)

// Labels that class-based policies read: the class of tasks that a node is reserved for, and its cluster. A node
// without them takes every class and is a cluster of its own. See also ClassAuto.
const (
	LabelClass   = "class"
	LabelCluster = "cluster"
)

// SiteOf reads a node's labels. It returns before if nothing changed, nil if there are none.
func SiteOf(labels []grid.Label, before *balance.Site) *balance.Site {
	var s balance.Site
	for i := range labels {
		switch l := &labels[i]; l.Key {
		case LabelClass:
			s.Class = l.Value
		case LabelCluster:
			s.Cluster = l.Value
		}
	}
	switch {
	case s == balance.Site{}:
		return nil
	case before != nil && *before == s:
		return before
	}
	made := s // a copy only here, so that an unchanged site allocates nothing
	return &made
}
