package exclusion

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"skep/grid"
)

// Set is the nodes that do not get a task, or only if no other does.
type Set struct {
	excluded []excluded // they get no offer for now
	failedOn []Failed   // the task failed there: others are preferred
}

// excluded keeps a task from being offered to a node for some time.
type excluded struct {
	node       grid.NodeID
	why        grid.Refusal
	until      grid.Time
	preference bool // other nodes are only preferred
}

// Failed is a node on which a task failed, and why.
type Failed struct {
	Node  grid.NodeID
	Why   grid.Refusal
	until grid.Time // others are preferred until then; 0 = for good
	over  bool      // they are not any more: it may try the task once more
}

// MaxStrikes bounds the nodes remembered on which a task failed.
const MaxStrikes = 16

// Expire drops the exclusions that have ended.
func (x *Set) Expire(now grid.Time) {
	for i := range x.failedOn {
		if f := &x.failedOn[i]; f.until > 0 && f.until <= now {
			f.until, f.over = 0, true
		}
	}
	x.excluded = slices.DeleteFunc(x.excluded, func(e excluded) bool { return e.until <= now })
}

// Exclude keeps the task from a node until a time, or for longer if it was so already.
func (x *Set) Exclude(id grid.NodeID, why grid.Refusal, until grid.Time) {
	for i := range x.excluded {
		if e := &x.excluded[i]; e.node == id {
			e.why, e.until = why, max(until, e.until)
			e.preference = e.preference && !why.Why.Never()
			return
		}
	}
	x.excluded = append(x.excluded, excluded{node: id, why: why, until: until})
}

// Bar is Exclude, also for a node to which others were only preferred.
func (x *Set) Bar(id grid.NodeID, why grid.Refusal, until grid.Time) {
	for i := range x.excluded {
		if e := &x.excluded[i]; e.node == id {
			e.preference = false
		}
	}
	x.Exclude(id, why, until)
}

// PreferOthers keeps the task from a node until a time, if there is another one for it.
func (x *Set) PreferOthers(id grid.NodeID, why grid.Refusal, until grid.Time) {
	x.excluded = append(x.excluded, excluded{node: id, why: why, until: until, preference: true})
}

// Undrained lets the task try a node that drained and takes work again.
func (x *Set) Undrained(id grid.NodeID) {
	x.excluded = slices.DeleteFunc(x.excluded, func(e excluded) bool {
		return e.node == id && e.why.Why == grid.WhyDrain
	})
}

// Fail records a node on which the task failed; the oldest one is forgotten beyond MaxStrikes.
func (x *Set) Fail(id grid.NodeID, why grid.Refusal) {
	if at := slices.IndexFunc(x.failedOn, func(f Failed) bool { return f.Node == id }); at >= 0 {
		switch f := &x.failedOn[at]; {
		case f.Why.Why == grid.WhySilent:
			f.Why = why
		case why.Why != grid.WhySilent: // an offer without an answer prolongs no back-off
			f.until, f.over = 0, false
		}
		return
	}
	if len(x.failedOn) == MaxStrikes {
		x.failedOn = slices.Delete(x.failedOn, 0, 1)
	}
	x.failedOn = append(x.failedOn, Failed{Node: id, Why: why})
}

// LoseOnce records that a node has lost the task, of which others are preferred until a time only: it may have been
// unreachable. If it has lost the task before, or the task has failed there, they are for good.
func (x *Set) LoseOnce(id grid.NodeID, why grid.Refusal, until grid.Time) {
	again := slices.ContainsFunc(x.failedOn, func(f Failed) bool { return f.Node == id && f.Why.Why != grid.WhySilent })
	x.Fail(id, why)
	if at := slices.IndexFunc(x.failedOn, func(f Failed) bool { return f.Node == id }); !again {
		x.failedOn[at].until = until
	}
}

// HasFailedOn reports whether others are preferred to a node as the task failed there. That an offer was not answered
// says nothing of how it would run there: PreferOthers keeps it from that node for a while.
func (x *Set) HasFailedOn(id grid.NodeID) bool {
	return slices.ContainsFunc(x.failedOn, func(f Failed) bool { return f.Node == id && f.counts() })
}

// BacksOff reports whether others are preferred to a node until a time only.
func (x *Set) BacksOff(id grid.NodeID) bool {
	return slices.ContainsFunc(x.failedOn, func(f Failed) bool { return f.Node == id && f.counts() && f.until > 0 })
}

// counts reports whether other nodes are preferred to it.
func (f *Failed) counts() bool { return f.Why.Why != grid.WhySilent && !f.over }

// Unfit yields the nodes on which the task failed, and those that can never run it. Not those of a back-off: it may be
// over before who is told of it is asked.
func (x *Set) Unfit() iter.Seq[grid.NodeID] {
	return func(yield func(grid.NodeID) bool) {
		for _, f := range x.failedOn {
			if f.counts() && f.until == 0 && !yield(f.Node) {
				return
			}
		}
		for _, e := range x.excluded {
			if e.until == grid.Never && !yield(e.node) {
				return
			}
		}
	}
}

// ExcludesNode reports whether the task is kept from a node; if strict, also where others are only preferred.
func (x *Set) ExcludesNode(id grid.NodeID, strict bool) bool {
	return slices.ContainsFunc(x.excluded, func(e excluded) bool { return e.node == id && (strict || !e.preference) })
}

// Reason returns why the task is kept from a node; WhyNone if it is not.
func (x *Set) Reason(id grid.NodeID) grid.Refusal {
	for _, e := range x.excluded {
		if e.node == id {
			return e.why
		}
	}
	return grid.Refusal{}
}

// NeverFits reports whether a node has said that it can never run the task.
func (x *Set) NeverFits(id grid.NodeID) bool {
	return slices.ContainsFunc(x.excluded, func(e excluded) bool { return e.node == id && e.never() })
}

// never reports whether the node can never run the task, and not only as it was offered it. Where access is refused, it
// may be upgraded.
func (e *excluded) never() bool {
	return e.why.Why.Never() && (e.until == grid.Never || e.why.Why == grid.WhyAccess)
}

// Latest returns why the node that was excluded last, and may fit later, does not take the task; WhyNone if there is
// none.
func (x *Set) Latest() grid.Refusal {
	for _, e := range slices.Backward(x.excluded) {
		if !e.never() && !e.preference {
			return e.why
		}
	}
	return grid.Refusal{}
}

// Prefers reports whether other nodes are preferred to some.
func (x *Set) Prefers() bool {
	return len(x.failedOn) > 0 || slices.ContainsFunc(x.excluded, func(e excluded) bool { return e.preference })
}

// FailedOn are the nodes on which the task failed, oldest first; read only.
func (x *Set) FailedOn() []Failed { return x.failedOn }

// StruckOut says on which nodes the task failed, and why, if these are as many as it may fail on; else "". 0 = any
// number.
func (x *Set) StruckOut(most int, name func(grid.NodeID) string) string {
	if most == 0 || len(x.failedOn) < most {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it failed on %d nodes: ", len(x.failedOn))
	for i, f := range x.failedOn {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", name(f.Node), f.Why.Why)
		if f.Why.Detail != "" {
			fmt.Fprintf(&b, " (%s)", f.Why.Detail)
		}
	}
	return b.String()
}
