package ranks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"skep/grid"
	"skep/node/p2p/ports"
)

var here, there = grid.NodeID{1}, grid.NodeID{2}

// world is a table and what was made and ended, in order.
type world struct {
	*Table
	t   *testing.T
	mu  sync.Mutex
	log []string
	err error // of what is made next

	resting bool // the attempt of which the table has said so last
}

func newWorld(t *testing.T) *world {
	w := &world{t: t}
	w.Table = &Table{self: here, open: w.open, attempts: map[grid.AttemptID]*attempt{}}
	return w
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) open(l ports.Layout, memory int64) (*Shared, error) {
	n := l.ID.N
	w.note("open %d, %d of %d, %d bytes", n, len(l.Local(here)), len(l.Nodes), memory)
	if w.err != nil {
		return nil, w.err
	}
	return &Shared{rest: func(r bool) { w.resting = r }, leave: func() { w.note("leave %d", n) },
		giveBack: func(left bool) { w.note("back %d %v", n, left) }}, nil
}

// want compares what has happened since the last call.
func (w *world) want(events ...string) {
	w.t.Helper()
	w.work.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.log, events) {
		w.t.Errorf("%q: want %q", w.log, events)
	}
	w.log = nil
}

func (w *world) join(n, rank uint32, gone ...uint32) (*Shared, error) {
	return w.Join(id(n, rank), Network{Places: places}, 100, func(r uint32) bool { return slices.Contains(gone, r) })
}

// Ranks 0, 2 and 3 of four are here.
var places = []grid.RankPlace{{Node: here, Ranks: 1}, {Node: there, Ranks: 1}, {Node: here, Ranks: 2}}

func id(n, rank uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Index: rank}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

// The network is there from the first rank's start until the last is dropped, though all have ended before: what they
// have sent may be under way. The user is given back when the last folder is removed.
func TestLifeOfANetwork(t *testing.T) {
	w := newWorld(t)
	a, err := w.join(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	w.want("open 1, 3 of 4, 100 bytes")
	w.Ended(id(1, 2))
	for _, rank := range []uint32{0, 3, 3} { // the last was too late, and starts again
		if b, err := w.join(1, rank); a != b || err != nil {
			t.Errorf("rank %d gets another network: %v", rank, err)
		}
	}
	w.Ended(id(1, 0))
	if w.resting {
		t.Error("the network rests while a rank runs")
	}
	w.Ended(id(1, 3))
	if !w.resting {
		t.Error("the network does not rest while no rank runs")
	}
	if w.join(1, 3); w.resting {
		t.Error("the network rests after a rank has started again")
	}
	if w.Ended(id(1, 3)); !w.resting {
		t.Error("the network does not rest the second time")
	}
	w.want()
	w.Dropped(id(1, 0))
	w.Removed(id(1, 0), true)
	w.Dropped(id(1, 2))
	w.Removed(id(1, 2), false)
	w.want()
	w.Dropped(id(1, 3))
	w.want("leave 1")
	w.Removed(id(1, 3), false)
	w.want("back 1 true")
	if len(w.attempts) != 0 {
		t.Errorf("%d attempts are left", len(w.attempts))
	}
}

// A rank that is dropped while it runs has the network until it has ended; one that never starts keeps nothing.
func TestDroppedRanks(t *testing.T) {
	w := newWorld(t)
	w.join(1, 0, 3)
	w.Dropped(id(1, 0))
	w.Ended(id(1, 2))
	w.Dropped(id(1, 2))
	w.want("open 1, 3 of 4, 100 bytes")
	w.Ended(id(1, 0))
	w.want("leave 1")
	if _, err := w.join(1, 2); err == nil {
		t.Error("a rank that was dropped joins")
	}
	w.Removed(id(1, 0), false)
	w.want("back 1 false")
}

// An attempt has nothing of another one, and a rank of another node or with other places gets nothing.
func TestAttemptsAreApart(t *testing.T) {
	w := newWorld(t)
	a, _ := w.join(1, 0, 2, 3)
	b, _ := w.join(2, 0, 2, 3)
	if a == b || a == nil || b == nil {
		t.Error("two attempts share something")
	}
	other := []grid.RankPlace{{Node: here, Ranks: 4}}
	if _, err := w.Join(id(2, 2), Network{Places: other}, 0, func(uint32) bool { return false }); err == nil {
		t.Error("a rank with other places joins")
	}
	if _, err := w.join(3, 1); err == nil || len(w.attempts) != 2 {
		t.Errorf("a rank of another node: %v, %d attempts", err, len(w.attempts))
	}
	w.want("open 1, 3 of 4, 100 bytes", "open 2, 3 of 4, 100 bytes")
	w.Close()
	w.mu.Lock()
	slices.Sort(w.log)
	w.mu.Unlock()
	w.want("leave 1", "leave 2")
}

// What cannot be made no rank of the attempt gets, and there is nothing to end.
func TestNoNetwork(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("no device")
	for _, rank := range []uint32{0, 2, 3} {
		if _, err := w.join(1, rank); err == nil || !strings.Contains(err.Error(), "no device") {
			t.Errorf("rank %d: %v", rank, err)
		}
		w.Ended(id(1, rank))
		w.Dropped(id(1, rank))
		w.Removed(id(1, rank), false)
	}
	w.want("open 1, 3 of 4, 100 bytes")
	if len(w.attempts) != 0 {
		t.Errorf("%d attempts are left", len(w.attempts))
	}
	w.missing = errors.New("isolation is none")
	if _, err := w.join(2, 0); !errors.Is(err, w.missing) {
		t.Errorf("%v: want what is missing", err)
	}
}

// An owner that drops no ended rank cannot keep more than a few networks; running ones are not among these.
func TestIdleNetworksAreFew(t *testing.T) {
	w := newWorld(t)
	w.join(1000, 0, 2, 3)
	for n := range uint32(maxIdle) {
		w.join(n, 0, 2, 3)
		w.Ended(id(n, 0))
		w.Ended(id(n, 0))
	}
	w.work.Wait()
	w.log = nil
	w.join(2000, 0, 2, 3)
	w.Ended(id(2000, 0))
	w.want("open 2000, 3 of 4, 100 bytes", "leave 0")
	w.Dropped(id(0, 0))
	w.Removed(id(0, 0), false)
	w.want("back 0 false")
}

// Ranks that start at the same time get the same.
func TestRanksStartTogether(t *testing.T) {
	w := newWorld(t)
	var all [3]*Shared
	var wait sync.WaitGroup
	for i, rank := range []uint32{0, 2, 3} {
		wait.Go(func() { all[i], _ = w.join(1, rank) })
	}
	wait.Wait()
	if all[0] == nil || all[0] != all[1] || all[0] != all[2] {
		t.Errorf("%v: want the same", all)
	}
	w.want("open 1, 3 of 4, 100 bytes")
}
