package node

import (
	"skep/balance"
	"skep/grid"
)

// Labels that class based policies read: the class of tasks that a node is kept for, and the cluster that it
// belongs to. A node without them takes every class, and stands by itself. See also ClassAuto.
const (
	LabelClass   = "class"
	LabelCluster = "cluster"
)

// siteOf reads a node's labels; where they are as before it is the same as before, nil where there are none.
func siteOf(labels []grid.Label, before *balance.Site) *balance.Site {
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
	made := s // or every look would cost memory
	return &made
}
