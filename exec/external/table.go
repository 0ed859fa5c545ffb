package external

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"skep/exec/process"
)

// Errors of engines.
var (
	// ErrBusy reports that the other system does not answer, or not in time: the order has not run, and may be tried
	// again.
	ErrBusy = errors.New("it does not answer")

	// ErrClosed is the error after Close.
	ErrClosed = errors.New("the engine is closed")

	// ErrUnread is the error of Adopt for a task that is not found where an order cannot be read: it may be that one's.
	ErrUnread = errors.New("it may still run: an order cannot be read")
)

// Held is a task of an engine, in which a Task is embedded.
type Held interface {
	comparable
	base() *Task
}

func (t *Task) base() *Task { return t }

// Table holds the tasks of an engine: those that are live by their names, and those of an earlier run that were not
// taken over yet by their keys.
type Table[T Held] struct {
	soon   func()
	log    *slog.Logger
	mu     sync.Mutex
	live   map[string]T
	former map[string]T
	used   time.Duration // processor time of those that have ended
	unread bool
	closed bool
}

// Init gets ready. soon has the tasks looked after soon.
func (x *Table[T]) Init(soon func(), log *slog.Logger) {
	x.soon, x.log, x.live, x.former = soon, log, map[string]T{}, map[string]T{}
}

// Bind makes the part of a task that this package has.
func (x *Table[T]) Bind(t *Task, key, name, dir string, keep []string) {
	t.key, t.name, t.dir, t.keep, t.done = key, name, dir, keep, make(chan struct{})
	t.soon, t.remove = x.soon, x.Remove
	t.ended = func(r process.Result) {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.live, name)
		x.used += r.CPU
	}
}

// Remove removes the folder of an attempt.
func (x *Table[T]) Remove(dir string) {
	if err := process.Remove(dir); err != nil {
		x.log.Warn("the folder of a task was not removed", "error", err)
	}
}

// Enter enters a task that is about to be handed over; with an error the engine was closed.
func (x *Table[T]) Enter(t T) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	x.live[t.base().name] = t
	return nil
}

// Forget removes a task that was not handed over.
func (x *Table[T]) Forget(t T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.live, t.base().name)
}

// Restore enters a task of an earlier run. It is abandoned if it is not wanted.
func (x *Table[T]) Restore(t T, wanted bool) {
	b := t.base()
	x.mu.Lock()
	x.live[b.name] = t
	var none T
	if wanted = wanted && x.former[b.key] == none; wanted {
		x.former[b.key] = t
	}
	x.mu.Unlock()
	if !wanted {
		b.Abandon()
	}
}

// Unread notes that an order of an earlier run cannot be read: it may be that of any attempt.
func (x *Table[T]) Unread() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unread = true
}

// HasUnread reports whether there is one.
func (x *Table[T]) HasUnread() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unread
}

// Adopt takes over the task of an earlier run; the zero T: there is none, so the attempt has not run. With ErrUnread
// that is not known.
func (x *Table[T]) Adopt(key string, said func(Saying)) (T, error) {
	x.mu.Lock()
	t := x.former[key]
	delete(x.former, key)
	unread := x.unread
	x.mu.Unlock()
	var none T
	switch {
	case t != none:
		t.base().Listen(said)
	case unread:
		return none, ErrUnread
	}
	return t, nil
}

// Abandon ends the task of an earlier run that was not taken over, and removes its folder.
func (x *Table[T]) Abandon(key string) {
	x.mu.Lock()
	t := x.former[key]
	delete(x.former, key)
	x.mu.Unlock()
	var none T
	if t != none {
		t.base().Abandon()
	}
}

// Tasks are those that are live, by their names.
func (x *Table[T]) Tasks() []T {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := make([]T, 0, len(x.live))
	for _, t := range x.live {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(a.base().name, b.base().name) })
	return list
}

// Has reports whether there is a live task of a name.
func (x *Table[T]) Has(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, has := x.live[name]
	return has
}

// Used is the processor time of all tasks that have ended.
func (x *Table[T]) Used() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.used
}

// Close lets go of who waits for tasks: these go on, and the next run finds them.
func (x *Table[T]) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, t := range x.live {
		t.base().leave()
	}
	clear(x.live)
}
