package p2p

import (
	"sync"
	"time"

	"skep/grid"
	"skep/node"
)

// fakeNode is a minimal node to drive the driver: it offers the tasks of a job in turn to the peers that are up,
// runs what it is offered within its slots, and saves the records that a real node saves.
type fakeNode struct {
	cfg   node.Config
	slots int
	local bool // its own tasks run here

	mu     sync.Mutex
	seen   []grid.Event // all but wakes; messages are copied
	todo   []func(*grid.Effects)
	up     []grid.NodeID
	tasks  map[grid.TaskID]*node.TaskView
	jobs   map[grid.JobID]*grid.JobSpec
	queue  []grid.Start
	origin map[grid.AttemptID]grid.NodeID
	busy   int
	ad     *grid.Ad
	old    []grid.Record
}

func newFakeNode() *fakeNode {
	return &fakeNode{slots: 4, tasks: map[grid.TaskID]*node.TaskView{}, jobs: map[grid.JobID]*grid.JobSpec{},
		origin: map[grid.AttemptID]grid.NodeID{}}
}

func (y *fakeNode) Restore(r *grid.Record) { y.old = append(y.old, *r) }

func (y *fakeNode) Step(at grid.Time, ev *grid.Event, fx *grid.Effects) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if ev.Kind != grid.EvWake {
		c := *ev
		if ev.Msg != nil {
			m := *ev.Msg
			m.Attempts = append([]grid.AttemptID(nil), m.Attempts...)
			m.Digest = append([]grid.AdEntry(nil), m.Digest...)
			c.Msg = &m
		}
		y.seen = append(y.seen, c)
	}
	for _, f := range y.todo {
		f(fx)
	}
	y.todo = nil
	switch ev.Kind {
	case grid.EvPeerUp:
		y.up = append(y.up, ev.Peer)
	case grid.EvPeerDown:
		for i, n := range y.up {
			if n == ev.Peer {
				y.up = append(y.up[:i], y.up[i+1:]...)
				break
			}
		}
	case grid.EvAddrs:
		y.ad = &grid.Ad{Node: y.cfg.Self, Seq: grid.Seq{Boot: y.cfg.Boot, N: 1}, Name: y.cfg.Name, Capacity: y.cfg.Capacity,
			Speed: y.cfg.Speed, Availability: 1, Labels: y.cfg.Labels, Engines: y.cfg.Engines,
			Addrs: append([]string(nil), ev.Addrs...)}
	case grid.EvSubmit:
		y.submit(ev, fx)
	case grid.EvMessage:
		y.message(ev, fx)
	case grid.EvFetched:
		y.fetched(ev, fx)
	case grid.EvEnded:
		y.ended(ev, fx)
	}
}

func (y *fakeNode) submit(ev *grid.Event, fx *grid.Effects) {
	fx.Save(grid.RecRegister).Register = grid.SoleRegister(ev.Job, ev.Spec, 1)
	fx.Reply(ev.Caller, ev.Job, "")
	y.jobs[ev.Job] = ev.Spec
	for i := range ev.Spec.Count {
		id := grid.AttemptID{Task: grid.TaskID{Job: ev.Job, Index: i}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		to := y.cfg.Self
		if len(y.up) > 0 && !y.local {
			to = y.up[int(i)%len(y.up)]
		}
		y.tasks[id.Task] = &node.TaskView{ID: id, State: grid.Placed, Worker: to}
		if to == y.cfg.Self {
			y.accept(id, ev.Spec, y.cfg.Self, fx)
			continue
		}
		fx.Send(to, grid.KindOffer).Offer = grid.Offer{ID: id, Spec: ev.Spec, Class: grid.ClassOf(ev.Spec),
			Lease: time.Minute}
	}
}

func (y *fakeNode) accept(id grid.AttemptID, spec *grid.JobSpec, from grid.NodeID, fx *grid.Effects) {
	fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: id, Spec: spec, Class: grid.ClassOf(spec), Lease: time.Minute,
		State: grid.WorkQueued}
	y.origin[id] = from
	if from != y.cfg.Self {
		m := fx.Send(from, grid.KindAccept)
		m.Attempts = append(m.Attempts, id)
	}
	y.queue = append(y.queue, grid.Start{Attempt: id, Spec: spec})
	if len(spec.Inputs) > 0 {
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: from, Files: spec.Inputs})
		y.busy++ // takes a slot: the fake fetches one at a time
		return
	}
	y.next(fx)
}

func (y *fakeNode) next(fx *grid.Effects) {
	for y.busy < y.slots && len(y.queue) > 0 {
		y.busy++
		fx.Starts = append(fx.Starts, y.queue[0])
		y.queue = y.queue[1:]
	}
}

func (y *fakeNode) message(ev *grid.Event, fx *grid.Effects) {
	switch m := ev.Msg; m.Kind {
	case grid.KindOffer:
		y.accept(m.Offer.ID, m.Offer.Spec, ev.Peer, fx)
	case grid.KindResult:
		y.finish(m.Attempts[0], m.Result, fx)
		a := fx.Send(ev.Peer, grid.KindResultAck)
		a.Attempts = append(a.Attempts, m.Attempts[0])
	case grid.KindResultAck:
		r := fx.Save(grid.RecWork)
		r.Delete, r.Work.ID = true, m.Attempts[0]
	}
}

func (y *fakeNode) fetched(ev *grid.Event, fx *grid.Effects) {
	if _, mine := y.origin[ev.Attempt]; !mine {
		return
	}
	y.busy--
	if ev.Err == "" {
		y.next(fx)
	}
}

func (y *fakeNode) ended(ev *grid.Event, fx *grid.Effects) {
	y.busy--
	y.next(fx)
	if ev.Result == nil {
		return
	}
	if from := y.origin[ev.Attempt]; from != y.cfg.Self {
		fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: ev.Attempt, Spec: y.spec(ev.Attempt), State: grid.WorkFinished,
			Result: ev.Result, Lease: time.Minute}
		m := fx.Send(from, grid.KindResult)
		m.Attempts, m.Result = append(m.Attempts, ev.Attempt), ev.Result
		return
	}
	r := fx.Save(grid.RecWork)
	r.Delete, r.Work.ID = true, ev.Attempt
	y.finish(ev.Attempt, ev.Result, fx)
}

func (y *fakeNode) spec(id grid.AttemptID) *grid.JobSpec {
	for _, ev := range y.seen {
		if ev.Kind == grid.EvMessage && ev.Msg.Kind == grid.KindOffer && ev.Msg.Offer.ID == id {
			return ev.Msg.Offer.Spec
		}
	}
	return nil
}

func (y *fakeNode) finish(id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	t := y.tasks[id.Task]
	if t == nil || t.State == grid.Ended {
		return
	}
	t.State, t.Result = grid.Ended, r
	fx.Save(grid.RecEntry).Entry = grid.SoleEntry(&grid.TaskRecord{ID: id, State: grid.Ended, Worker: t.Worker, Result: r})
	fx.Changed = append(fx.Changed, id.Task)
}

// Job returns nothing: the fake has no registers.
func (y *fakeNode) Job(grid.JobID) (v node.JobView, ok bool) { return v, false }

func (y *fakeNode) Task(id grid.TaskID) (v node.TaskView, ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if t := y.tasks[id]; t != nil {
		return *t, true
	}
	return v, false
}

// count returns how many events of a kind were stepped.
func (y *fakeNode) count(k grid.EventKind) (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range y.seen {
		if y.seen[i].Kind == k {
			n++
		}
	}
	return n
}

// find returns the last event of a kind for which f holds.
func (y *fakeNode) find(k grid.EventKind, f func(*grid.Event) bool) (grid.Event, bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := len(y.seen) - 1; i >= 0; i-- {
		if y.seen[i].Kind == k && (f == nil || f(&y.seen[i])) {
			return y.seen[i], true
		}
	}
	return grid.Event{}, false
}

// isUp reports whether the node sees a peer up.
func (y *fakeNode) isUp(n grid.NodeID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, m := range y.up {
		if m == n {
			return true
		}
	}
	return false
}

// all returns the events of a kind, in order.
func (y *fakeNode) all(k grid.EventKind) (events []grid.Event) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range y.seen {
		if y.seen[i].Kind == k {
			events = append(events, y.seen[i])
		}
	}
	return events
}
