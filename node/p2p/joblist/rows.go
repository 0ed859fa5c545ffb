package joblist

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/listing"
)

// Bounds of what a node remembers of its registers to answer from.
const (
	maxKept = 10_000      // jobs, the newest
	idle    = 50          // they are not read again for so many times as long as reading took,
	maxIdle = time.Second // and for at most this
)

// Reader reads the node between two steps; nil = there is none to read.
type Reader func(ctx context.Context, f func(n *node.Node, now grid.Time)) error

// snapshot is the jobs in this node's registers at a moment.
type snapshot struct {
	read Reader
	wall func() time.Time // the clock; a test drives it

	mu    sync.Mutex // held while the registers are read: callers share one reading
	rows  []listing.Row
	more  bool
	until time.Time
}

// get returns the jobs, newest first, and whether there are older ones. They are not to be changed.
func (s *snapshot) get(ctx context.Context) ([]listing.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := s.wall()
	if began.Before(s.until) {
		return s.rows, s.more, nil
	}
	rows, more, err := readRows(ctx, s.read, maxKept)
	if err != nil {
		return nil, false, err
	}
	ended := s.wall()
	s.rows, s.more, s.until = rows, more, ended.Add(min(idle*ended.Sub(began), maxIdle))
	return rows, more, nil
}

// readRows reads the newest jobs.
func readRows(ctx context.Context, read Reader, most int) (rows []listing.Row, more bool, err error) {
	newest := func(a, b listing.Row) int {
		return cmp.Or(cmp.Compare(b.Submitted, a.Submitted), a.ID.Compare(b.ID))
	}
	err = read(ctx, func(n *node.Node, now grid.Time) {
		if n == nil {
			return
		}
		n.Kept(now, func(j *node.JobView, mayAct bool) {
			if len(rows) == 2*most { // the older half is dropped, so that memory is bounded
				slices.SortFunc(rows, newest)
				rows, more = rows[:most], true
			}
			rows = append(rows, RowOf(j, mayAct))
		})
	})
	slices.SortFunc(rows, newest)
	if len(rows) > most {
		rows, more = rows[:most], true
	}
	return rows, more, err
}

// RowOf returns what every member may know of a job; mayAct: this node may decide about it.
func RowOf(j *node.JobView, mayAct bool) listing.Row {
	return listing.Row{ID: j.ID, Name: j.Spec.Name, Access: j.Spec.Access(), Submitter: j.Spec.Submitter,
		Submitted: j.Submitted, Cancelled: j.Cancelled,
		Counts: listing.Counts{Count: int(j.Spec.Count), Pending: j.Pending, Placed: j.Placed, Ended: j.Ended,
			Failed: j.Failed, Retried: j.Retried, Running: j.Running, Held: j.Held},
		Leads: mayAct, Epoch: j.Epoch, Class: j.Class, Done: j.Done, Exit: j.Exit, Stopped: j.Stopped,
		Members: slices.Clone(j.Members), Owner: j.Owner, Since: j.Since}
}

// selected returns those of the rows that a query selects, the newest up to its limit.
func selected(rows []listing.Row, more bool, q *listing.Query) (some []listing.Row, left bool) {
	for i := range rows {
		if !q.Tells(&rows[i]) {
			continue
		}
		if len(some) == q.Limit {
			return some, true
		}
		some = append(some, rows[i])
	}
	// Older jobs than are kept here may be selected too, unless all that is kept is older than what is asked for.
	return some, more && (len(rows) == 0 || rows[len(rows)-1].Submitted >= q.Since)
}
