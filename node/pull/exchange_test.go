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
	queued  int // jobs that wait in the queue
	waiting int // jobs that wait for their placement
	keeps   bool
	overdue grid.Time
	where   []grid.NodeID
	roomy   []grid.NodeID
	rtt     time.Duration
	counts  grid.Counts
	given   []grid.NodeID
	judged  int
	refused grid.NodeID    // may pull nothing of what waits here
	needs   grid.Resources // of what waits; none = one core
}

func (w *world) Room() (grid.Resources, bool) { return w.free, w.queued > 0 }
func (w *world) WaitingCount() int            { return w.waiting }

func (w *world) NextOverdue(grid.Time) grid.Time { return w.overdue }
func (w *world) Cores(grid.NodeID) grid.MilliCPU { return 4 * grid.CPU }

func (w *world) MayYield(_ grid.Time, _ grid.AttemptID, to grid.NodeID) bool { return to != w.refused }

func (w *world) WhereWorkWaits() []grid.NodeID   { return w.where }
func (w *world) WithRoom() []grid.NodeID         { return w.roomy }
func (w *world) Loads() (waiting, roomy int)     { return len(w.where), len(w.roomy) }
func (w *world) Pulls(grid.NodeID) bool          { return true }
func (w *world) Counts(grid.NodeID) grid.Counts  { return w.counts }
func (w *world) Free(grid.NodeID) grid.Resources { return oneCore }
func (w *world) RTT(grid.NodeID) time.Duration   { return w.rtt }

// RunTimeAt fits what is asked by the level of its class.
func (w *world) RunTimeAt(_ grid.Time, _ grid.NodeID, _ *grid.JobSpec, level string) (float64, bool) {
	w.judged++
	return 1, level == "level"
}

// queue and placements are the two parts where work waits.
type queue struct{ *world }
type placements struct{ *world }

func (w *world) waitingOf(jobs int, end float64, dst []grid.Waiting) []grid.Waiting {
	needs := w.needs
	if needs.CPU == 0 {
		needs = oneCore
	}
	for i := range jobs {
		dst = append(dst, grid.Waiting{Job: grid.JobID{Nonce: [10]byte{byte(i)}}, End: end, Class: "class",
			Level: "level", Spec: &grid.JobSpec{Needs: grid.Needs{Resources: needs}}, Here: make([]grid.AttemptID, 1)})
	}
	return dst
}

func (q queue) Waiting(_ grid.Time, dst []grid.Waiting) []grid.Waiting {
	if q.keeps {
		return q.waitingOf(q.queued, 0.5, dst)
	}
	return q.waitingOf(q.queued, 2, dst)
}

func (p placements) Waiting(_ grid.Time, dst []grid.Waiting) []grid.Waiting {
	return p.waitingOf(p.waiting, 2, dst)
}

func (q queue) Yield(_ grid.Time, _ *grid.Waiting, to grid.NodeID, _ float64, _ func(grid.AttemptID) bool,
	_ *grid.Effects) bool {
	q.given = append(q.given, to)
	return true
}

func (p placements) Grant(_ grid.Time, _ *grid.Waiting, to grid.NodeID, _ *grid.Effects) bool {
	p.given = append(p.given, to)
	return true
}

var oneCore = grid.Resources{CPU: grid.CPU}

// rig drives an exchange and its timer.
type rig struct {
	*world
	x     *Exchange
	now   grid.Time
	fx    grid.Effects
	wake  grid.Time
	sent  []grid.Send
	looks int
}

func newRig(w *world) *rig {
	return &rig{world: w, now: 1e9, x: New(Config{Worker: queue{w}, Jobs: placements{w}, Peers: w,
		Rand: grid.NewRand(1, 1)})}
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
		r.looks++
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
		r := newRig(&world{free: grid.Resources{CPU: cores * grid.CPU}, where: nodes(5)})
		r.x.Changed()
		if r.settle(); len(r.sent) != want || r.sent[0].Msg.Kind != grid.KindPull {
			t.Errorf("%d cores: sent %+v, want %d pulls", cores, r.sent, want)
		}
	}
}

// It backs off from a node that gives nothing, for twice as long each time, up to half a minute; a task or a notice
// ends that.
func TestIdleNodeBacksOff(t *testing.T) {
	r := newRig(&world{free: oneCore, where: nodes(1)})
	r.x.Changed()
	r.settle()
	if first := r.pass(10 * time.Second); first < 3 || first > 7 {
		t.Errorf("%d pulls in the first ten seconds, want a few", first)
	}
	r.pass(5 * time.Minute)
	if late := r.pass(5 * time.Minute); late < 8 || late > 11 {
		t.Errorf("%d pulls in five minutes, want one each half minute", late)
	}
	r.now = r.now.Add(5 * time.Second)
	before := len(r.sent)
	r.fx.Reset()
	r.x.Notified(r.now, grid.NodeID{1}, &r.fx)
	if r.collect(); len(r.sent) != before+1 {
		t.Error("a notice is not followed at once")
	}
}

// One that does not answer is asked again as soon as its answer is late, as a message may have been lost; if it does
// not answer that either it is backed off from, until it has answered once.
func TestALostPullIsRepeated(t *testing.T) {
	r := newRig(&world{free: oneCore, where: nodes(1)})
	r.x.Changed()
	r.settle()
	for range 6 { // each answer doubles the back-off
		r.x.Denied(r.now, grid.NodeID{1})
		r.settle()
		for before := len(r.sent); len(r.sent) == before; {
			r.pass(lookGap)
		}
	}
	if n := r.pass(minTimeout + lookGap); n != 1 {
		t.Fatalf("%d pulls after a pull that was not answered in time, want 1", n)
	}
	if n := r.pass(minTimeout + lookGap); n != 0 {
		t.Errorf("%d pulls after two that were not answered, want none during the back-off", n)
	}
	if n := r.pass(maxBackoff); n != 1 {
		t.Fatalf("%d pulls once the back-off is over, want 1", n)
	}
	if n := r.pass(minTimeout + lookGap); n != 0 {
		t.Errorf("%d pulls after a third that was not answered, want none", n)
	}
}

// A node that says again and again that work waits there, and gives none, is asked each two seconds; an honest one
// beside it as often as without it.
func TestFalseNotices(t *testing.T) {
	r := newRig(&world{free: oneCore, where: nodes(1)})
	liar := grid.NodeID{9}
	for range 600 { // half a minute
		r.fx.Reset()
		r.x.Notified(r.now, liar, &r.fx)
		r.collect()
		r.pass(50 * time.Millisecond)
	}
	pulls := map[grid.NodeID]int{}
	for _, s := range r.sent {
		pulls[s.To]++
	}
	if pulls[liar] > 20 || pulls[grid.NodeID{1}] < 4 {
		t.Errorf("the liar is asked %d times, the honest node %d times", pulls[liar], pulls[grid.NodeID{1}])
	}
}

// A node with a long round trip holds up the others for two seconds at most, and the timer does not spin.
func TestSlowPeerHoldsNobodyUp(t *testing.T) {
	r := newRig(&world{free: grid.Resources{CPU: 2 * grid.CPU}, where: nodes(3), rtt: time.Minute})
	r.x.Changed()
	r.settle()
	if n := r.pass(10 * time.Second); n < 4 {
		t.Errorf("%d pulls in ten seconds", n)
	}
	if r.looks > 50 {
		t.Errorf("%d looks in ten seconds", r.looks)
	}
}

// Where nobody has work that waits an idle node is silent, and sets no timer.
func TestSilentWhereNothingWaits(t *testing.T) {
	r := newRig(&world{free: oneCore, roomy: nodes(3)})
	r.x.Changed()
	if r.settle(); len(r.sent) != 0 || r.wake != 0 {
		t.Errorf("sent %d, timer at %v", len(r.sent), r.wake)
	}
	busy := newRig(&world{queued: 1, overdue: grid.Never})
	busy.x.Changed()
	if busy.settle(); len(busy.sent) != 0 || busy.wake != 0 {
		t.Errorf("without idle nodes: sent %d, timer at %v", len(busy.sent), busy.wake)
	}
}

// A node with waiting work tells two idle nodes, each less and less often while it does not ask; none if it would give
// nothing, until the work is overdue.
func TestTwoIdleNodesAreTold(t *testing.T) {
	r := newRig(&world{queued: 1, overdue: grid.Never, roomy: nodes(5)})
	r.x.Changed()
	if r.settle(); len(r.sent) != 2 || r.sent[0].To == r.sent[1].To || r.sent[0].Msg.Kind != grid.KindWaiting {
		t.Fatalf("sent %+v, want two notices", r.sent)
	}
	if more := r.pass(time.Minute); more > 5*7 {
		t.Errorf("%d notices to five nodes in a minute", more)
	}
	keeps := newRig(&world{queued: 1, keeps: true, overdue: grid.Time(4e9), roomy: nodes(5)})
	keeps.x.Changed()
	if keeps.settle(); len(keeps.sent) != 0 {
		t.Fatalf("sent %+v, though nothing would be given", keeps.sent)
	}
	keeps.keeps = false // it is overdue then
	if n := keeps.pass(3500 * time.Millisecond); n < 2 {
		t.Errorf("%d notices when the work is overdue", n)
	}
}

// A node that would be refused is not told; it is as soon as it would not be.
func TestWhoWouldBeRefusedIsNotTold(t *testing.T) {
	r := newRig(&world{queued: 1, overdue: grid.Never, roomy: nodes(2)})
	r.refused = r.roomy[0]
	r.x.Changed()
	if r.settle(); len(r.sent) != 1 || r.sent[0].To == r.refused {
		t.Fatalf("sent %+v, want a notice to the one that would be given work", r.sent)
	}
	r.roomy = nodes(1)
	if n := r.pass(time.Minute); n != 0 {
		t.Fatalf("%d notices to a node that would be refused", n)
	}
	r.refused = grid.NodeID{}
	if n := r.pass(2 * noticeGap); n == 0 {
		t.Error("it is not told when it would be given work")
	}
}

// A task that waits for its placement is announced, also by a node that has room itself.
func TestWaitingTasksAreAnnounced(t *testing.T) {
	r := newRig(&world{free: oneCore, waiting: 1, overdue: grid.Never, roomy: nodes(1)})
	if r.settle(); len(r.sent) != 1 || r.sent[0].Msg.Kind != grid.KindWaiting || !r.x.Waits() {
		t.Errorf("sent %+v, want a notice", r.sent)
	}
}

// A look considers a few idle nodes, however many there are.
func TestALookIsBounded(t *testing.T) {
	r := newRig(&world{queued: 16, keeps: true, overdue: grid.Never, roomy: nodes(250)})
	r.x.Changed()
	if r.settle(); r.judged > 16*maxTried {
		t.Errorf("%d pairs of work and node are judged", r.judged)
	}
}

// A pull gets one task that fits what the node has free: one that waits for its placement, else one from the queue.
func TestAPullGetsOneTask(t *testing.T) {
	for _, w := range []*world{{queued: 2, waiting: 2}, {queued: 2}} {
		r := newRig(w)
		r.x.PullReceived(r.now, grid.NodeID{7}, grid.Resources{CPU: 1}, &r.fx)
		r.x.PullReceived(r.now, grid.NodeID{7}, oneCore, &r.fx)
		if !slices.Equal(r.given, []grid.NodeID{{7}}) {
			t.Errorf("%d wait for their placement: given to %v", w.waiting, r.given)
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

// A pull for which there is nothing is answered; whoever asked then asks another node at once, and not the same again.
func TestNothingToGiveIsSaid(t *testing.T) {
	r := newRig(&world{})
	r.x.PullReceived(r.now, grid.NodeID{7}, oneCore, &r.fx)
	if r.collect(); len(r.sent) != 1 || r.sent[0].To != (grid.NodeID{7}) || r.sent[0].Msg.Kind != grid.KindNoWork {
		t.Fatalf("sent %+v, want no_work", r.sent)
	}
	r = newRig(&world{free: oneCore, where: nodes(2), rtt: time.Second})
	r.x.Changed()
	r.settle()
	first := r.sent[0].To
	r.now = r.now.Add(time.Second)
	r.x.Denied(r.now, first)
	if r.settle(); len(r.sent) != 2 || r.sent[1].To == first {
		t.Fatalf("sent %+v, want a pull to the other node", r.sent)
	}
	r.x.Denied(r.now, grid.NodeID{9}) // never asked
	if r.settle(); len(r.sent) != 2 {
		t.Errorf("sent %+v after an answer to nothing", r.sent[2:])
	}
}

// A task of the owner that was asked is taken for its answer, whoever was asked first: the other one is not forgiven.
func TestWhoGaveATask(t *testing.T) {
	r := newRig(&world{free: grid.Resources{CPU: 2 * grid.CPU}, where: nodes(2)})
	r.x.Changed()
	r.settle()
	second := r.sent[1].To
	r.x.Came(r.now, second)
	if r.x.askedAt(second) >= 0 || r.x.askedAt(r.sent[0].To) < 0 {
		t.Error("the first node is taken for the one that gave")
	}
}

// A busy owner whose task comes after the time-out gives work all the same: its next notice is heeded at once.
func TestALateTaskIsForgiven(t *testing.T) {
	r, owner := newRig(&world{free: oneCore}), grid.NodeID{7}
	r.x.Notified(r.now, owner, &r.fx)
	r.collect()
	r.pass(minTimeout + lookGap)
	if r.fx.Reset(); !r.x.ask(r.now, grid.NodeID{8}, oneCore, false, &r.fx) {
		t.Fatal("another node is not asked after the time-out")
	}
	r.x.Denied(r.now, grid.NodeID{8})
	r.x.Came(r.now, owner)
	r.fx.Reset()
	if r.x.Notified(r.now, owner, &r.fx); len(r.fx.Sends) != 1 || r.fx.Sends[0].To != owner {
		t.Errorf("sent %+v, want a pull", r.fx.Sends)
	}
}

// A task that needs more cores than are believed of a node may go there alone: it would be idle for good.
func TestATaskOfMoreCoresThanAreBelieved(t *testing.T) {
	r := newRig(&world{queued: 1, needs: grid.Resources{CPU: 6 * grid.CPU}})
	for range 3 {
		r.x.PullReceived(r.now, grid.NodeID{7}, grid.Resources{CPU: 8 * grid.CPU}, &r.fx)
	}
	if len(r.given) != 1 {
		t.Errorf("a node of which 4 cores are believed gets %d tasks of 6, want one at a time", len(r.given))
	}
	r.now = r.now.Add(time.Second) // it takes a second there
	if r.x.PullReceived(r.now, grid.NodeID{7}, grid.Resources{CPU: 8 * grid.CPU}, &r.fx); len(r.given) != 2 {
		t.Errorf("a second later it has got %d, want another", len(r.given))
	}
}

// A node gets tasks for no more cores than it has, whatever it says to be free, until it may be done with them.
func TestNoMoreThanTheCores(t *testing.T) {
	r := newRig(&world{queued: 1})
	burst := func() int {
		before := len(r.given)
		for range 100 {
			r.x.PullReceived(r.now, grid.NodeID{7}, grid.Resources{CPU: 64 * grid.CPU}, &r.fx)
		}
		return len(r.given) - before
	}
	if n := burst(); n != 4 {
		t.Errorf("a node of 4 cores gets %d tasks", n)
	}
	r.now = r.now.Add(time.Second) // each takes a second there
	if n := burst(); n != 4 {
		t.Errorf("a second later it gets %d more", n)
	}
	for i := range 2 * maxDebits {
		r.x.PullReceived(r.now, grid.NodeID{8, byte(i), byte(i >> 8)}, oneCore, &r.fx)
	}
	if len(r.x.debits) > maxDebits {
		t.Errorf("%d given tasks are remembered", len(r.x.debits))
	}
}

// Far nodes that say again and again that work waits there, and give nothing, do not keep an honest one from being
// asked.
func TestFarLiars(t *testing.T) {
	for liars := range byte(7) {
		r, honest := newRig(&world{free: oneCore, rtt: 600 * time.Millisecond}), grid.NodeID{200}
		for i := range 600 { // each half a second, for five minutes
			for k := range liars {
				r.fx.Reset()
				r.x.Notified(r.now, grid.NodeID{k + 1}, &r.fx)
				r.collect()
			}
			if i%4 == 0 {
				r.fx.Reset()
				r.x.Notified(r.now, honest, &r.fx)
				r.collect()
			}
			r.pass(250 * time.Millisecond)
			if r.x.askedAt(honest) >= 0 {
				r.x.Came(r.now, honest)
			}
			r.pass(250 * time.Millisecond)
		}
		pulls := 0
		for _, s := range r.sent {
			if s.To == honest {
				pulls++
			}
		}
		if pulls < 100 {
			t.Errorf("%d liars: the honest node is asked %d times after 150 notices", liars, pulls)
		}
	}
}

// Where many nodes are idle and work waits at one of them, they ask one after another.
func TestACrowdAsksInTurns(t *testing.T) {
	at := func(idle byte) (atOnce, within int) {
		for seed := range uint64(40) {
			r := newRig(&world{free: oneCore, where: nodes(1), roomy: nodes(idle)})
			r.x.cfg.Rand = grid.NewRand(seed, 1)
			r.x.Changed()
			r.settle()
			atOnce += len(r.sent)
			r.pass(maxJitter)
			within += min(1, len(r.sent))
		}
		return atOnce, within
	}
	if n, later := at(250); n > 0 || later != 40 {
		t.Errorf("of 40 nodes in a crowd %d ask at once, %d within %v", n, later, maxJitter)
	}
	if n, _ := at(4); n != 40 {
		t.Errorf("of 40 nodes %d ask at once where few are idle", n)
	}
}

// needing makes the tasks that wait need units of counted resources.
func (r *rig) needing(counts grid.Counts) {
	r.x.cfg.Worker = counted{queue{r.world}, counts}
}

type counted struct {
	queue
	counts grid.Counts
}

func (c counted) Waiting(_ grid.Time, dst []grid.Waiting) []grid.Waiting {
	need := oneCore
	need.Counts = c.counts
	return append(dst, grid.Waiting{End: 2, Level: "level", Spec: &grid.JobSpec{Needs: grid.Needs{Resources: need}}})
}

// A node is not given more tasks than it has units for at a time, whatever it says to be free.
func TestNoMoreThanTheUnits(t *testing.T) {
	r := newRig(&world{queued: 1, counts: "gpu=3"})
	r.needing("gpu=1")
	for range 100 {
		r.x.PullReceived(r.now, grid.NodeID{7}, grid.Resources{CPU: 64 * grid.CPU, Counts: "gpu=64"}, &r.fx)
	}
	if len(r.given) != 3 {
		t.Errorf("a node with three GPUs gets %d tasks with one each", len(r.given))
	}
	r.x.PullReceived(r.now, grid.NodeID{8}, grid.Resources{CPU: 4 * grid.CPU}, &r.fx)
	if len(r.given) != 3 {
		t.Error("a node that has no GPU free is given a task with one")
	}
}

// Of several nodes that are asked at a time one is told of the free units: else each gives a task for them.
func TestFreeUnitsAreOfferedOnce(t *testing.T) {
	r := newRig(&world{free: grid.Resources{CPU: 4 * grid.CPU, Counts: "gpu=1"}, where: nodes(5)})
	r.x.Changed()
	if r.settle(); len(r.sent) != 2 || r.sent[0].Msg.Poll.Needs.Counts != "gpu=1" ||
		r.sent[1].Msg.Poll.Needs.Counts != "" {
		t.Errorf("sent %+v, want two pulls, the first with a GPU", r.sent)
	}
}
