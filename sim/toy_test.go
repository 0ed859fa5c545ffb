package sim

import (
	"slices"
	"time"

	"skep/grid"
	"skep/node"
)

// toy is a scripted member with a protocol just large enough to exercise the world: a task is offered to a random
// connected node, run there, and offered again when its lease expires. bug names a fault that it has, for the world to
// find.
type toy struct {
	bug      string
	self     grid.NodeID
	cap      grid.Resources
	free     grid.Resources
	rand     *grid.Rand
	peers    []grid.NodeID
	jobs     []grid.RegisterRecord
	tasks    []grid.TaskRecord // index is the handle
	specs    []*grid.JobSpec
	work     []grid.WorkRecord
	retained []grid.AttemptID
}

func makeToy(bug string) func(node.Config, grid.Wall) (Member, error) {
	return func(c node.Config, _ grid.Wall) (Member, error) {
		return &toy{bug: bug, self: c.Self, cap: c.Capacity, free: c.Capacity, rand: grid.NewRand(c.Seed, 0)}, nil
	}
}

func (n *toy) Restore(r *grid.Record) {
	switch r.Kind {
	case grid.RecRegister:
		n.jobs = append(n.jobs, r.Register)
	case grid.RecEntry:
		n.tasks = append(n.tasks, r.Entry.TaskRecord)
	case grid.RecWork:
		n.work = append(n.work, r.Work)
	}
}

func (n *toy) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvStart:
		n.start(now, fx)
	case grid.EvPeerUp:
		if !slices.Contains(n.peers, ev.Peer) {
			n.peers = append(n.peers, ev.Peer)
			fx.Links = append(fx.Links, grid.Link{Peer: ev.Peer, Keep: true})
		}
	case grid.EvPeerDown:
		n.peers = slices.DeleteFunc(n.peers, func(p grid.NodeID) bool { return p == ev.Peer })
	case grid.EvSubmit:
		n.submit(now, ev, fx)
	case grid.EvWake:
		n.wake(now, ev, fx)
	case grid.EvEnded:
		n.ended(now, ev, fx)
	case grid.EvMessage:
		n.message(now, ev, fx)
	}
}

func (n *toy) start(now grid.Time, fx *grid.Effects) {
	var recorded []grid.TaskRecord
	recorded, n.tasks = n.tasks, nil
	for i := range n.jobs {
		n.expand(&n.jobs[i])
	}
	for _, r := range recorded {
		h := slices.IndexFunc(n.tasks, func(t grid.TaskRecord) bool { return t.ID.Task == r.ID.Task })
		n.tasks[h] = r
	}
	for h := range n.tasks {
		if n.tasks[h].State != grid.Ended {
			fx.Wake(now.Add(time.Second), grid.TimerRetry, uint64(h))
		}
	}
	for i := range n.work {
		if wr := &n.work[i]; wr.State == grid.WorkRunning {
			n.finish(wr, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep}, fx)
		}
	}
	fx.Wake(now.Add(time.Second), grid.TimerResult, 0)
	n.next(fx)
}

func (n *toy) expand(j *grid.RegisterRecord) {
	for k := range j.Spec.Count {
		n.tasks = append(n.tasks, grid.TaskRecord{ID: grid.AttemptID{Task: grid.TaskID{Job: j.ID, Index: k}},
			State: grid.Pending})
		n.specs = append(n.specs, j.Spec)
	}
}

func (n *toy) submit(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if slices.ContainsFunc(n.jobs, func(j grid.RegisterRecord) bool { return j.ID == ev.Job }) {
		fx.Reply(ev.Caller, ev.Job, "")
		return
	}
	j := grid.SoleRegister(ev.Job, n.misread(ev.Spec), 0)
	n.sendInvalidAd(fx)
	n.jobs = append(n.jobs, j)
	if n.bug != "answers before it saves" {
		fx.Save(grid.RecRegister).Register = j
	}
	fx.Reply(ev.Caller, ev.Job, "")
	first := len(n.tasks)
	n.expand(&j)
	for h := first; h < len(n.tasks); h++ {
		n.place(now, h, fx)
	}
}

// place offers a task to a random peer.
func (n *toy) place(now grid.Time, h int, fx *grid.Effects) {
	t := &n.tasks[h]
	if len(n.peers) == 0 {
		fx.Wake(now.Add(time.Second), grid.TimerRetry, uint64(h))
		return
	}
	if n.bug != "offers an attempt twice" || t.ID.N == 0 {
		t.ID.N++
	}
	if n.bug == "gives up" && t.ID.N > 1 {
		return
	}
	t.State, t.Worker = grid.Offered, n.peers[n.rand.IntN(len(n.peers))]
	fx.Save(grid.RecEntry).Entry = grid.SoleEntry(t)
	m := fx.Send(t.Worker, grid.KindOffer)
	m.Offer = grid.Offer{ID: t.ID, Spec: n.specs[h], Lease: time.Minute}
	fx.Wake(now.Add(time.Minute), grid.TimerLease, uint64(h)<<32|uint64(t.ID.N))
}

func (n *toy) wake(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Timer.Kind {
	case grid.TimerRetry:
		if h := int(ev.Timer.Key); n.tasks[h].State != grid.Ended {
			n.place(now, h, fx)
		}
	case grid.TimerLease:
		h := int(ev.Timer.Key >> 32)
		if t := &n.tasks[h]; t.State != grid.Ended && t.ID.N == uint32(ev.Timer.Key) {
			n.place(now, h, fx)
		}
	case grid.TimerResult:
		for i := range n.work {
			if n.work[i].State == grid.WorkFinished {
				n.sendResult(&n.work[i], fx)
			}
		}
		fx.Wake(now.Add(time.Second), grid.TimerResult, 0)
	}
}

func (n *toy) message(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	m := ev.Msg
	switch m.Kind {
	case grid.KindOffer:
		if n.find(m.Offer.ID) == nil {
			n.work = append(n.work, grid.WorkRecord{ID: m.Offer.ID, Spec: m.Offer.Spec, Lease: m.Offer.Lease,
				State: grid.WorkQueued})
			rec := fx.Save(grid.RecWork)
			rec.Work, rec.Later = n.work[len(n.work)-1], n.bug == "accepts before it saves"
		}
		answer := fx.Send(ev.Peer, grid.KindAccept)
		answer.Attempts = append(answer.Attempts, m.Offer.ID)
		n.next(fx)
	case grid.KindResult:
		n.result(now, ev.Peer, m, fx)
	case grid.KindResultAck:
		if n.bug == "keeps what is dead" {
			n.retained = m.Attempts
			return
		}
		if wr := n.find(m.Attempts[0]); wr != nil && n.bug != "never forgets" {
			r := fx.Save(grid.RecWork)
			r.Work, r.Delete = *wr, true
			n.work = slices.DeleteFunc(n.work, func(x grid.WorkRecord) bool { return x.ID == m.Attempts[0] })
		}
	}
}

func (n *toy) result(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	h := slices.IndexFunc(n.tasks, func(t grid.TaskRecord) bool { return t.ID.Task == id.Task })
	t := &n.tasks[h]
	live := t.State != grid.Ended && t.ID == id
	if live && m.Result.Cause == grid.Lost {
		n.place(now, h, fx)
	} else if live || n.bug == "takes late results" {
		t.State, t.Result = grid.Ended, m.Result
		rec := fx.Save(grid.RecEntry)
		rec.Entry, rec.Later = grid.SoleEntry(t), n.bug == "thanks before it saves"
	}
	answer := fx.Send(from, grid.KindResultAck)
	answer.Attempts = append(answer.Attempts, id)
}

// next starts queued work that fits.
func (n *toy) next(fx *grid.Effects) {
	for i := range n.work {
		wr := &n.work[i]
		if need := wr.Spec.Needs.Resources; wr.State == grid.WorkQueued && (n.free.Fits(need) || n.bug == "overbooks") {
			n.free = n.free.Minus(need)
			wr.State = grid.WorkRunning
			fx.Save(grid.RecWork).Work = *wr
			fx.Starts = append(fx.Starts, grid.Start{Attempt: wr.ID, Spec: wr.Spec})
			if n.bug == "starts twice" {
				fx.Starts = append(fx.Starts, grid.Start{Attempt: wr.ID, Spec: wr.Spec})
			}
		}
	}
}

func (n *toy) ended(_ grid.Time, ev *grid.Event, fx *grid.Effects) {
	wr := n.find(ev.Attempt)
	if n.bug == "panics" {
		panic("the end of the world")
	}
	n.free = n.free.Plus(wr.Spec.Needs.Resources)
	n.finish(wr, ev.Result, fx)
	n.next(fx)
}

func (n *toy) finish(wr *grid.WorkRecord, r *grid.Result, fx *grid.Effects) {
	wr.State, wr.Result = grid.WorkFinished, r
	fx.Save(grid.RecWork).Work = *wr
	n.sendResult(wr, fx)
}

func (n *toy) sendResult(wr *grid.WorkRecord, fx *grid.Effects) {
	m := fx.Send(wr.ID.Task.Job.Origin, grid.KindResult)
	m.Attempts = append(m.Attempts, wr.ID)
	m.Result = wr.Result
}

func (n *toy) find(id grid.AttemptID) *grid.WorkRecord {
	for i := range n.work {
		if n.work[i].ID == id {
			return &n.work[i]
		}
	}
	return nil
}
