package pull

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// world is all that an exchange asks: a node that is idle or has a queue, and its peers.
type world struct {
	free    grid.Resources
	queued  bool
	yields  bool
	grants  bool
	overdue grid.Time
	waiting []grid.NodeID
	roomy   []grid.NodeID
	given   []grid.NodeID
}

func (w *world) Idle() grid.Resources { return w.free }
func (w *world) Queued() bool         { return w.queued }
func (w *world) Waiting() bool        { return w.grants }

func (w *world) Yields(grid.Time, grid.Resources, grid.Elsewhere) bool { return w.yields }
func (w *world) NextOverdue(grid.Time) grid.Time                       { return w.overdue }
func (w *world) Grants(grid.Time, grid.NodeID) bool                    { return w.grants }
func (w *world) MayMove(grid.JobID) bool                               { return true }
func (w *world) WhereWorkWaits() []grid.NodeID                         { return w.waiting }
func (w *world) WithRoom() []grid.NodeID                               { return w.roomy }
func (w *world) Pulls(grid.NodeID) bool                                { return true }
func (w *world) Free(grid.NodeID) grid.Resources                       { return oneCore }
func (w *world) RTT(grid.NodeID) time.Duration                         { return 10 * time.Millisecond }

func (w *world) Yield(_ grid.Time, to grid.NodeID, _ grid.Resources, _ grid.Elsewhere, _ *grid.Effects) bool {
	w.given = append(w.given, to)
	return w.yields
}

func (w *world) Grant(_ grid.Time, to grid.NodeID, _ *grid.Effects) bool {
	if w.grants {
		w.given = append(w.given, to)
	}
	return w.grants
}

func (w *world) RunTimeAt(grid.Time, grid.NodeID, *grid.JobSpec, string) (float64, bool) { return 1, true }

var oneCore = grid.Resources{CPU: grid.CPU}

// rig drives an exchange and its timer.
type rig struct {
	*world
	x    *Exchange
	now  grid.Time
	fx   grid.Effects
	wake grid.Time
	sent []grid.Send
}

func newRig(w *world) *rig {
	return &rig{world: w, now: 1e9, x: New(Config{Worker: w, Jobs: w, Peers: w, Rand: grid.NewRand(1, 1)})}
}

func (r *rig) settle() {
	r.fx.Reset()
	r.x.Settle(r.now, &r.fx)
	r.collect()
}

func (r *rig) collect() {
	r.sent = append(r.sent, r.fx.Sends...)
	for _, w := range r.fx.Wakes {
		if r.wake == 0 || w.At < r.wake {
			r.wake = w.At
		}
	}
}

// pass lets time pass and counts the messages.
func (r *rig) pass(d time.Duration) int {
	before := len(r.sent)
	for end := r.now.Add(d); ; {
		if r.wake == 0 || r.wake > end {
			r.now = end
			return len(r.sent) - before
		}
		r.now, r.wake = r.wake, 0
		r.x.Woke(r.now)
		r.settle()
	}
}

func nodes(n byte) (all []grid.NodeID) {
	for i := range n {
		all = append(all, grid.NodeID{i + 1})
	}
	return all
}

// An idle node asks two nodes at a time where work waits, and one for each core that it has free.
func TestIdleNodeAsksTwo(t *testing.T) {
	for cores, want := range map[grid.MilliCPU]int{1: 1, 2: 2, 8: 2} {
		r := newRig(&world{free: grid.Resources{CPU: cores * grid.CPU}, waiting: nodes(5)})
		r.x.Changed()
		if r.settle(); len(r.sent) != want || r.sent[0].Msg.Kind != grid.KindPull {
			t.Errorf("%d cores: sent %+v, want %d pulls", cores, r.sent, want)
		}
	}
}

// It backs off from a node that gives nothing, for twice as long each time, up to half a minute; a task or a hint ends that.
func TestIdleNodeBacksOff(t *testing.T) {
	r := newRig(&world{free: oneCore, waiting: nodes(1)})
	r.x.Changed()
	r.settle()
	if first := r.pass(10 * time.Second); first < 3 || first > 7 {
		t.Errorf("%d pulls in the first ten seconds, want a few", first)
	}
	r.pass(5 * time.Minute)
	if late := r.pass(5 * time.Minute); late < 8 || late > 11 {
		t.Errorf("%d pulls in five minutes, want one each half minute", late)
	}
	r.now = r.now.Add(time.Second)
	before := len(r.sent)
	r.fx.Reset()
	r.x.Hinted(r.now, grid.NodeID{1}, &r.fx)
	if r.collect(); len(r.sent) != before+1 {
		t.Error("a hint is not followed at once")
	}
}

// Where nobody has work that waits an idle node is silent, and sets no timer.
func TestSilentWhereNothingWaits(t *testing.T) {
	r := newRig(&world{free: oneCore, roomy: nodes(3)})
	r.x.Changed()
	if r.settle(); len(r.sent) != 0 || r.wake != 0 {
		t.Errorf("sent %d, timer at %v", len(r.sent), r.wake)
	}
	busy := newRig(&world{queued: true, overdue: grid.Never})
	busy.x.Changed()
	if busy.settle(); len(busy.sent) != 0 || busy.wake != 0 {
		t.Errorf("without idle nodes: sent %d, timer at %v", len(busy.sent), busy.wake)
	}
}

// A node with waiting work tells two idle nodes, not the same one twice in a short time; none if it would give nothing, until
// the work is overdue.
func TestTwoIdleNodesAreTold(t *testing.T) {
	r := newRig(&world{queued: true, yields: true, overdue: grid.Never, roomy: nodes(5)})
	r.x.Changed()
	if r.settle(); len(r.sent) != 2 || r.sent[0].To == r.sent[1].To || r.sent[0].Msg.Kind != grid.KindWaiting {
		t.Fatalf("sent %+v, want two hints", r.sent)
	}
	if more := r.pass(10 * time.Second); more > 5*21 {
		t.Errorf("%d hints to five nodes in ten seconds", more)
	}
	keeps := newRig(&world{queued: true, overdue: grid.Time(4e9), roomy: nodes(5)})
	keeps.x.Changed()
	if keeps.settle(); len(keeps.sent) != 0 {
		t.Fatalf("sent %+v, though nothing would be given", keeps.sent)
	}
	keeps.yields = true // it is overdue then
	if n := keeps.pass(3500 * time.Millisecond); n < 2 || keeps.now != 45e8 {
		t.Errorf("%d hints when the work is overdue", n)
	}
}

// A pull gets one task: one that waits for its placement, else one from the queue.
func TestAPullGetsOneTask(t *testing.T) {
	for _, grants := range []bool{true, false} {
		r := newRig(&world{queued: true, yields: true, grants: grants})
		r.x.Asked(r.now, grid.NodeID{7}, oneCore, &r.fx)
		if !slices.Equal(r.given, []grid.NodeID{{7}}) {
			t.Errorf("grants %v: given to %v", grants, r.given)
		}
	}
}

// What is remembered of other nodes is bounded.
func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for i := range 10 * maxKnown {
		m.double(grid.NodeID{byte(i), byte(i >> 8)}, 0, time.Second, time.Minute)
	}
	if len(m) != maxKnown {
		t.Errorf("%d are remembered, want %d", len(m), maxKnown)
	}
}
