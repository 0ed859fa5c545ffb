package sandbox

import (
	"fmt"
	"sync"
)

const (
	// roomReserve is how many processes and threads are kept from tasks, for the node and what else its user runs. A Go program
	// that cannot make a thread aborts.
	roomReserve = 512

	// leastReserve is what must be left of it for bounds to hold where the node may have few.
	leastReserve = 128

	// leastProcs is the least bound of a task: a shell with a pipeline, a Go program with its threads.
	leastProcs = 32

	// spareShares are shares besides those of the slots. Tasks of less than a core are more than there are slots: these halve among
	// them what is left.
	spareShares = 2
)

// room is how many processes and threads all tasks of the node may have together, and its division among those that run. The
// kernel counts what a task has also for the node's user, for its control group and for the machine: without a division one task
// could leave nothing for the node itself. The nil room bounds nothing.
type room struct {
	by    string // the bound that it comes from
	total int64
	share int64 // of a task, at most

	mu    sync.Mutex
	taken int64
}

// newRoom divides what is left below a bound among the tasks of slots.
func newRoom(left int64, by string, slots int) *room {
	r := &room{by: by, total: left - max(min(roomReserve, left/2), leastReserve)}
	r.share = r.total / int64(slots+spareShares)
	return r
}

// enough reports whether each task can have the least that one needs.
func (r *room) enough() bool { return r == nil || r.share >= leastProcs }

// take returns the bound of a task that asks for one, 0 being none. The sum of all bounds is never more than the total.
func (r *room) take(asked int64) (int64, error) {
	if asked == 0 || r == nil || !r.enough() { // which a finding tells
		return asked, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(asked, r.share, (r.total-r.taken)/2)
	if n < min(asked, leastProcs) {
		return 0, fmt.Errorf("tasks have %d of the %d processes that this node may have (%s): no room for another", r.taken, r.total, r.by)
	}
	r.taken += n
	return n, nil
}

func (r *room) give(n int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= n
}

// finding says that bounds of processes do not hold.
func (r *room) finding() Finding {
	return Finding{Property: Bounds, What: fmt.Sprintf("%s leaves %d processes for all tasks, so that it could take those that the node needs",
		r.by, max(r.total, 0)), Remedy: "raise that bound, as by `ulimit -u`, or give the node fewer CPUs"}
}
