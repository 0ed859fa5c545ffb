package sandbox

import (
	"errors"
	"fmt"
	"sync"

	"skep/grid"
)

// ErrNoRoom is why a command is not started now: other tasks have the processes that this node may have. It may when
// some of them have ended.
var ErrNoRoom = errors.New("no room for another task")

const (
	// roomReserve is how many processes and threads are kept from tasks, for the node and what else its user runs. A Go
	// program that cannot make a thread aborts.
	roomReserve = 512

	// leastReserve is what must be left of it for bounds to hold where the node may have few.
	leastReserve = 128

	// leastProcs is the least bound of a task: a shell with a pipeline, a Go program with its threads. With less a program
	// fails that would not elsewhere, so a task waits instead.
	leastProcs = 32

	// spareShares are shares besides those of the slots, for tasks whose part of a core gives them less than leastProcs.
	spareShares = 2
)

// room is how many processes and threads all tasks of the node may have together, and its division among those that
// run. The kernel counts what a task has also for the node's user, for its control group and for the machine: without a
// division one task could leave nothing for the node itself. The nil room bounds nothing.
type room struct {
	by    string // the bound that it comes from
	total int64
	share int64 // of a core

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

// take returns the bound of a task that asks for one, 0 being none, and was admitted with so much of the processors.
// Tasks of less than a core are more than there are slots, and get as much less. The sum of all bounds is never more
// than the total.
func (r *room) take(asked int64, cpu grid.MilliCPU) (int64, error) {
	if asked == 0 || r == nil || !r.enough() { // which a finding tells
		return asked, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	part := int64(float64(r.share) * float64(cpu) / float64(grid.CPU))
	n := min(asked, max(part, leastProcs), r.total-r.taken)
	if n < min(asked, leastProcs) {
		return 0, fmt.Errorf("%w: tasks have %d of the %d processes that this node may have (%s)", ErrNoRoom, r.taken,
			r.total, r.by)
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
	return Finding{Property: Bounds,
		What: fmt.Sprintf("%s leaves %d processes for all tasks, so that it could take those that the node needs",
			r.by, max(r.total, 0)), Remedy: "raise that bound, as by `ulimit -u`, or give the node fewer CPUs"}
}
