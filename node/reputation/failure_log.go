package reputation

import (
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// FailureLog counts how tasks of each class ended at each node, to find nodes that fail a class which other nodes
// run. The zero value is empty.
type FailureLog struct {
	classes []*Blacklist // ordered by name
	changed bool         // since TakeChange
}

// Bounds of the failure log, and of the back-off.
const (
	maxFailureClasses = 64  // classes kept
	maxFailureNodes   = 256 // nodes kept per class
	minGrowth         = 2   // least number of nodes by which a class's list grows
	minFailures       = 3   // fewer failures never blacklist a node
	failureSigma      = 3   // standard deviations above the failures expected from other nodes
	baseFailureRate   = 0.05
	minBackoff        = time.Minute
	maxBackoff        = time.Hour // after this time without an end there the back-off starts from minBackoff again
)

// TakeChange reports whether the blacklist of some class may have changed since the last call.
func (l *FailureLog) TakeChange() bool {
	changed := l.changed
	l.changed = false
	return changed
}

// Ended counts the result of a task of a class at its worker. A time limit or a cancel says nothing about the node.
func (l *FailureLog) Ended(now grid.Time, class string, worker grid.NodeID, r *grid.Result) {
	switch r.Cause {
	case grid.Exited, grid.Signaled, grid.MemoryExceeded:
		l.record(now, class, worker, r.Succeeded())
	case grid.CannotExecute, grid.NotFound, grid.Failed:
		l.record(now, class, worker, false)
	}
}

// Failed counts a failure that came without a result.
func (l *FailureLog) Failed(now grid.Time, class string, worker grid.NodeID) {
	l.record(now, class, worker, false)
}

func (l *FailureLog) record(now grid.Time, class string, id grid.NodeID, good bool) {
	at, ok := l.find(class)
	if !ok {
		if len(l.classes) >= maxFailureClasses {
			l.evict()
			at, _ = l.find(class)
		}
		l.classes = slices.Insert(l.classes, at, &Blacklist{log: l, class: strings.Clone(class)})
	}
	c := l.classes[at]
	at, ok = c.search(id)
	if !ok {
		if len(c.nodes) >= maxFailureNodes {
			c.evict()
			at, _ = c.search(id)
		}
		c.nodes = slices.Insert(grid.Room(c.nodes, minGrowth), at, nodeFailures{node: id})
	}
	l.changed = c.record(now, &c.nodes[at], good) || l.changed
}

// Blacklist returns the class's failure log if it lists any node, else nil, the usual case.
func (l *FailureLog) Blacklist(class string) *Blacklist {
	if c := l.class(class); c != nil && c.listed > 0 {
		return c
	}
	return nil
}

// Excludes reports whether a node is on a blacklist now. If that has changed since it was last asked, the log has
// changed. c may be nil.
func (c *Blacklist) Excludes(now grid.Time, id grid.NodeID) bool {
	if c == nil {
		return false
	}
	f := c.node(id)
	if f == nil || f.until == 0 {
		return false
	}
	listed := c.blacklisted(now, f)
	if listed != f.excluded {
		f.excluded, c.log.changed = listed, true
	}
	return listed
}

// Refusal returns the reason why a node gets no task of a class now; WhyNone if it may.
func (l *FailureLog) Refusal(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	c := l.Blacklist(class)
	if c == nil {
		return grid.Refusal{}
	}
	if f := c.node(id); f != nil && c.blacklisted(now, f) {
		return f.refusal()
	}
	return grid.Refusal{}
}

// BackoffUntil returns until when a node gets no task of a class; 0 if it may get one now.
func (l *FailureLog) BackoffUntil(now grid.Time, class string, id grid.NodeID) grid.Time {
	if c := l.Blacklist(class); c != nil {
		if f := c.node(id); f != nil && c.blacklisted(now, f) {
			return f.until
		}
	}
	return 0
}

// Probe records that a node is given a task of a class: if it is listed and its back-off is over, as its probe.
func (l *FailureLog) Probe(now grid.Time, class string, id grid.NodeID) {
	if c := l.Blacklist(class); c != nil {
		if f := c.node(id); f != nil {
			f.probe(now)
		}
	}
}

func (l *FailureLog) class(name string) *Blacklist {
	if at, ok := l.find(name); ok {
		return l.classes[at]
	}
	return nil
}

func (l *FailureLog) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.classes, name,
		func(c *Blacklist, name string) int { return strings.Compare(c.class, name) })
}

// evict removes the class without an end for longest.
func (l *FailureLog) evict() {
	oldest := 0
	for i, c := range l.classes {
		if c.all.at < l.classes[oldest].all.at {
			oldest = i
		}
	}
	l.classes = slices.Delete(l.classes, oldest, oldest+1)
}
