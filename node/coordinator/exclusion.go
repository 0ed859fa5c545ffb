package coordinator

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// exclusions are the nodes that do not get a task, or only if no other does.
type exclusions struct {
	excluded        []exclusion // they get no offer for now
	failedOn        []failedOn  // it failed there: others are preferred
	blacklistTraced bool        // its trace names the blacklisted nodes
	tryBlacklisted  bool        // all candidates are blacklisted: one is tried
}

// exclusion keeps a task from being offered to a node for some time.
type exclusion struct {
	node       grid.NodeID
	why        grid.Refusal
	until      grid.Time
	preference bool // other nodes are only preferred
}

// failedOn is a node on which a task failed, and why.
type failedOn struct {
	node grid.NodeID
	why  grid.Refusal
}

// MaxStrikes bounds Config.Strikes, and the failed nodes remembered for a task that only its retries bound.
const MaxStrikes = 16

// expire drops the exclusions that have ended.
func (x *exclusions) expire(now grid.Time) {
	x.excluded = slices.DeleteFunc(x.excluded, func(e exclusion) bool { return e.until <= now })
}

// exclude keeps the task from a node until a time, or for longer if it was so already.
func (x *exclusions) exclude(id grid.NodeID, why grid.Refusal, until grid.Time) {
	for i := range x.excluded {
		if e := &x.excluded[i]; e.node == id {
			e.why, e.until = why, max(until, e.until)
			e.preference = e.preference && !why.Why.Never()
			return
		}
	}
	x.excluded = append(x.excluded, exclusion{node: id, why: why, until: until})
}

// preferOthers keeps the task from a node until a time, if there is another one for it.
func (x *exclusions) preferOthers(id grid.NodeID, why grid.Refusal, until grid.Time) {
	x.excluded = append(x.excluded, exclusion{node: id, why: why, until: until, preference: true})
}

// undrained lets the task try a node that drained and takes work again.
func (x *exclusions) undrained(id grid.NodeID) {
	x.excluded = slices.DeleteFunc(x.excluded, func(e exclusion) bool { return e.node == id && e.why.Why == grid.WhyDrain })
}

// failed records a node on which the task failed; the oldest one is forgotten beyond MaxStrikes.
func (x *exclusions) failed(id grid.NodeID, why grid.Refusal) {
	if x.hasFailedOn(id) {
		return
	}
	if len(x.failedOn) == MaxStrikes {
		x.failedOn = slices.Delete(x.failedOn, 0, 1)
	}
	x.failedOn = append(x.failedOn, failedOn{id, why})
}

// hasFailedOn reports whether the task failed on a node.
func (x *exclusions) hasFailedOn(id grid.NodeID) bool {
	return slices.ContainsFunc(x.failedOn, func(f failedOn) bool { return f.node == id })
}

// excludes reports whether the task is kept from a node; if strict, also where others are only preferred.
func (x *exclusions) excludes(id grid.NodeID, strict bool) bool {
	return slices.ContainsFunc(x.excluded, func(e exclusion) bool { return e.node == id && (strict || !e.preference) })
}

// why returns why the task is kept from a node; WhyNone if it is not.
func (x *exclusions) why(id grid.NodeID) grid.Refusal {
	for _, e := range x.excluded {
		if e.node == id {
			return e.why
		}
	}
	return grid.Refusal{}
}

// neverFits reports whether a node has said that it can never run the task.
func (x *exclusions) neverFits(id grid.NodeID) bool {
	return slices.ContainsFunc(x.excluded, func(e exclusion) bool { return e.node == id && e.why.Why.Never() })
}

// forNow returns why the last node that was excluded, and may fit later, does not take the task; WhyNone if there is none.
func (x *exclusions) forNow() grid.Refusal {
	for _, e := range slices.Backward(x.excluded) {
		if !e.why.Why.Never() && !e.preference {
			return e.why
		}
	}
	return grid.Refusal{}
}

// prefers reports whether other nodes are preferred to some.
func (x *exclusions) prefers() bool {
	return len(x.failedOn) > 0 || slices.ContainsFunc(x.excluded, func(e exclusion) bool { return e.preference })
}

// countFailedNode records that a task failed on a node. It returns the reason if the task ends now, "" if it goes on.
func (c *Coordinator) countFailedNode(l *liveTask, id grid.NodeID, why grid.Refusal) string {
	l.failed(id, why)
	if c.cfg.Strikes == 0 || len(l.failedOn) < c.cfg.Strikes {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it failed on %d nodes: ", len(l.failedOn))
	for i, f := range l.failedOn {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", c.peers.Name(f.node), f.why.Why)
		if f.why.Detail != "" {
			fmt.Fprintf(&b, " (%s)", f.why.Detail)
		}
	}
	return clip(b.String())
}
