package reputation

import (
	"slices"
	"time"

	"skep/grid"
)

// Records are the track records of the workers that this node has given attempts to, at most maxRecords. The zero value
// is empty.
type Records struct {
	list    []*Record // ordered by identity
	results uint64    // successful results of this node and of proven ones
	changed bool      // since TakeChange
}

// Cursor is the rest of the records, for a caller that asks in the order of identities.
type Cursor []*Record

// Cursor returns a cursor at the first record, valid until the next change of the records.
func (r *Records) Cursor() Cursor { return r.list }

// Next returns the track record of a node; nil if it was never given an attempt.
func (c *Cursor) Next(id grid.NodeID) *Record {
	for ; len(*c) > 0; *c = (*c)[1:] {
		if order := (*c)[0].node.Compare(id); order == 0 {
			return (*c)[0]
		} else if order > 0 {
			break
		}
	}
	return nil
}

// Of returns the track record of a node; nil if it was never given an attempt.
func (r *Records) Of(id grid.NodeID) *Record {
	if at, ok := r.find(id); ok {
		return r.list[at]
	}
	return nil
}

func (r *Records) find(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(r.list, id, func(rec *Record, id grid.NodeID) int { return rec.node.Compare(id) })
}

// Open returns the track record of a node, and adds it if need be.
func (r *Records) Open(id grid.NodeID) *Record {
	at, ok := r.find(id)
	if !ok {
		if len(r.list) >= maxRecords {
			r.evict()
			at, _ = r.find(id)
		}
		r.list = slices.Insert(r.list, at, &Record{node: id})
	}
	return r.list[at]
}

// evict makes room: it evicts the idle node with the oldest last result, or the first record if none is idle.
func (r *Records) evict() {
	victim := 0
	for i, rec := range r.list {
		if o := r.list[victim]; len(rec.due) == 0 && (len(o.due) > 0 || rec.last < o.last) {
			victim = i
		}
	}
	r.list = slices.Delete(r.list, victim, victim+1)
}

// TakeChange reports whether what is believed of some node may have changed since the last call.
func (r *Records) TakeChange() bool {
	changed := r.changed
	r.changed = false
	return changed
}

// CountResult counts a successful result of this node or of a proven one: by such results stragglers are told from long
// tasks.
func (r *Records) CountResult() { r.results++ }

// Lost counts an attempt that the node lost: its lease ran out.
func (r *Records) Lost(now grid.Time, id grid.NodeID, lease time.Duration) {
	if rec := r.Of(id); rec != nil {
		rec.lost(now, lease)
		r.changed = true
	}
}

// LossBackoff is for how long a task that a node has lost prefers others to it: a lease, doubled for each outage that
// the node has had lately beyond the attempts that brought a result.
func (r *Records) LossBackoff(now grid.Time, id grid.NodeID, lease time.Duration) time.Duration {
	if rec := r.Of(id); rec != nil {
		return rec.lossBackoff(now, lease)
	}
	return lease
}

// Returned takes an attempt off its worker's outstanding ones, before anything else about it changes; delivered = it
// brought a result. It reports whether the worker may be off probation now.
func (r *Records) Returned(now grid.Time, p *grid.Expectation, worker grid.NodeID, delivered bool) bool {
	if p.LateAt == 0 {
		return false
	}
	due := p.LateAt
	p.LateAt = 0
	rec := r.Of(worker)
	if rec == nil {
		return false
	}
	rec.removeDue(due)
	if delivered {
		rec.result(now, p.Expected, max(now.Sub(p.Made).Seconds(), 0), now > due)
		r.changed = r.changed || rec.results == 1 || rec.unreliable()
	}
	return true
}
