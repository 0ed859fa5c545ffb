package node

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// Random events: honest answers, false ones from anybody, ends, fetches, timers, cancels, restarts. None may make the
// node panic, and the invariants hold after each (coordinator.BrokenInvariant). -node.random sets the number of runs.

var randomFlag = flag.Int("node.random", 300, "runs of TestRandomEvents")

func TestRandomEvents(t *testing.T) {
	for seed := range uint64(*randomFlag) {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { newRandomEvents(t, seed).run(400) }) {
			return
		}
	}
}

// randomEvents draws the events of one node. What it names is drawn from what the node has sent of late, or made up.
type randomEvents struct {
	*rig
	rng       *rand.Rand
	specs     map[grid.JobID]*grid.JobSpec
	jobs      []grid.JobID
	seqs      []uint64
	attempts  []grid.AttemptID
	starts    []grid.AttemptID
	fetches   []grid.Fetch
	polls     []uint64
	asked     []*grid.Reserve
	campaigns []grid.RegisterMessage
	voters    []grid.NodeID // whom the campaigns were sent to
	last      string
}

func newRandomEvents(t *testing.T, seed uint64) *randomEvents {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := newRig(t, func(c *Config) {
		c.Members, c.Window = oneOf(rng, 1, 3, 3, 3), oneOf(rng, c.Window, 2)
		c.Keep = oneOf(rng, c.Keep, 3, 6)
		c.Capacity.CPU = oneOf[grid.MilliCPU](rng, 1, 2, 3) * grid.CPU
		c.DepositQuota, c.DepositLimit = 3*grid.MiB, 2*grid.MiB
	})
	r.now = 3600e9
	x := &randomEvents{rig: r, rng: rng, specs: make(map[grid.JobID]*grid.JobSpec)}
	for _, origin := range []grid.NodeID{selfID, selfID, selfID, fastID, fastID, slowID} {
		id := numbered(origin, len(x.jobs))
		x.jobs, x.specs[id] = append(x.jobs, id), spec(x.change)
	}
	return x
}

func oneOf[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (x *randomEvents) chance(percent int) bool { return x.rng.IntN(100) < percent }

func (x *randomEvents) change(s *grid.JobSpec) {
	s.Count, s.Retries, s.Wait = oneOf[uint32](x.rng, 1, 2, 4), oneOf[int32](x.rng, 0, 1, 2), x.chance(50)
	s.Policy = oneOf(x.rng, "", "local", "workqueue:2", "min_min")
	s.Idempotent = s.Retries > 0 && x.chance(50)
	if x.chance(30) {
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"bsd"}}}
	}
	if x.chance(30) {
		s.Inputs = []grid.File{{Path: "in", Blob: grid.BlobID{1}, Size: grid.MiB / 2}}
	}
	if x.chance(25) {
		s.Gang.Ranks, s.Policy, s.Idempotent = s.Count, "", false
	}
	if x.chance(30) {
		s.Rules.Budget = oneOf[grid.Budget](x.rng, 1, 5, 60)
	}
}

func (x *randomEvents) run(events int) {
	defer func() {
		if e := recover(); e != nil {
			x.t.Logf("after %s", x.last)
			panic(e)
		}
	}()
	for range events {
		x.now = x.now.Add(time.Duration(x.rng.IntN(200)) * time.Millisecond)
		if x.chance(1) {
			x.now = x.now.Add(time.Duration(x.rng.IntN(50)) * time.Hour)
		}
		x.event()
		x.note()
		if broken := x.brokenInvariant(); broken != "" {
			x.t.Fatalf("after %s: %s", x.last, broken)
		}
	}
}

// event feeds the node one event, or a few of honest peers.
func (x *randomEvents) event() {
	switch p := x.rng.IntN(100); {
	case p < 4:
		id := x.jobs[x.rng.IntN(3)]
		x.submit(id, x.specs[id])
	case p < 6:
		x.step(grid.Event{Kind: grid.EvCancel, Caller: 7, Job: oneOf(x.rng, x.jobs...)})
	case p < 10:
		x.join(x.peer(), 1, oneOf(x.rng, "linux", "bsd"))
	case p < 12:
		x.step(grid.Event{Kind: grid.EvPeerDown, Peer: x.peer()})
	case p < 32:
		x.honest()
	case p < 34 && len(x.campaigns) > 0:
		x.honestVote()
	case p < 40 && len(x.starts) > 0:
		k := x.rng.IntN(len(x.starts))
		x.step(grid.Event{Kind: oneOf(x.rng, grid.EvEnded, grid.EvEnded, grid.EvLate), Attempt: x.starts[k],
			Result: x.result()})
		x.starts = append(x.starts[:k], x.starts[k+1:]...)
	case p < 46 && len(x.fetches) > 0:
		k := x.rng.IntN(len(x.fetches))
		f := &x.fetches[k]
		x.step(grid.Event{Kind: grid.EvFetched, Attempt: f.Attempt, Deposit: f.Deposit, Err: oneOf(x.rng, "", "", "no")})
		x.fetches = append(x.fetches[:k], x.fetches[k+1:]...)
	case p < 47 && x.chance(50):
		x.rig, x.starts, x.fetches = x.restart(), nil, nil
	case p < 48:
		x.step(oneOf(x.rng, grid.Event{Kind: grid.EvDrain, Within: time.Minute}, grid.Event{Kind: grid.EvUndrain},
			grid.Event{Kind: grid.EvDisk, Low: true}, grid.Event{Kind: grid.EvDisk}))
	case p < 52 && len(x.polls) > 0:
		x.deliver(x.peer(), grid.KindState, func(m *grid.Message) {
			m.State = grid.State{ID: oneOf(x.rng, x.polls...), ECT: time.Second, Speed: 1, Cores: grid.CPU, Mine: 1,
				Why: oneOf(x.rng, grid.WhyNone, grid.WhyNone, grid.WhyQueue)}
		})
	case p < 55:
		x.aboutSlots()
	case p < 75:
		x.aboutAttempt()
	case p < 80:
		x.offerAny()
	case p < 82:
		x.claimOwner(x.peer(), x.peer(), oneOf(x.rng, x.jobs...), x.rng.Uint32N(6), x.chance(50))
	default:
		x.aboutRegister()
	}
}

// note remembers what the last step has sent.
func (x *randomEvents) note() {
	for _, s := range x.sentCopy() {
		g := s.Msg.Register
		if g.Seq != 0 {
			x.seqs = newest(x.seqs, g.Seq)
		}
		switch s.Msg.Kind {
		case grid.KindOffer:
			x.attempts = newest(x.attempts, s.Msg.Offer.ID)
		case grid.KindReserve:
			x.asked = newest(x.asked, s.Msg.Reserve)
		case grid.KindPoll:
			x.polls = newest(x.polls, s.Msg.Poll.ID)
		case grid.KindCampaign:
			x.campaigns, x.voters = newest(x.campaigns, g), newest(x.voters, s.To)
		}
	}
	for _, s := range x.fx.Starts {
		x.starts, x.attempts = newest(x.starts, s.Attempt), newest(x.attempts, s.Attempt)
	}
	for _, f := range x.fx.Fetches {
		x.fetches = newest(x.fetches, grid.Fetch{Attempt: f.Attempt, Deposit: f.Deposit})
	}
	x.wakes = x.wakes[max(0, len(x.wakes)-400):]
}

// newest appends to a list that keeps the last few.
func newest[T any](list []T, v T) []T { return append(list[max(0, len(list)-11):], v) }

func (x *randomEvents) honest() {
	x.last = "what peers answer and timers do"
	if x.chance(50) {
		x.answerAsPeers()
		return
	}
	for end := x.now.Add(2 * time.Second); x.now < end; {
		x.pass(min(100*time.Millisecond, end.Sub(x.now)))
		x.note()
		if x.chance(30) {
			x.answerAsPeers()
		}
	}
}

func (x *randomEvents) honestVote() {
	x.last = "a vote"
	k := x.rng.IntN(len(x.campaigns))
	c, from := x.campaigns[k], x.voters[k]
	g := grid.RegisterMessage{Job: c.Job, Epoch: c.Epoch, Answer: grid.RegisterOK, Next: x.specs[c.Job].Count + 1}
	if x.chance(50) {
		g.Entries = x.entries()
	}
	x.deliver(from, grid.KindVote, func(m *grid.Message) { m.Register = g })
	x.answerAsPeers()
}

// aboutAttempt delivers a message about an attempt, from its worker or anybody.
func (x *randomEvents) aboutAttempt() {
	k := oneOf(x.rng, grid.KindAccept, grid.KindRefuse, grid.KindRefuse, grid.KindResult, grid.KindResult, grid.KindBeat,
		grid.KindStartLease, grid.KindStartLeaseAck, grid.KindDrop, grid.KindAsk, grid.KindResultAck, grid.KindDeposit,
		grid.KindDepositAck)
	id, why := x.attempt(), grid.Why(x.rng.IntN(25))
	from := x.workerOf(id)
	if deposits := k == grid.KindDeposit || k == grid.KindDepositAck; deposits && x.chance(50) {
		id = grid.AttemptID{Task: grid.TaskID{Job: id.Task.Job}} // the inputs
	}
	x.last = fmt.Sprintf("%v of %v from %v, %v", k, id, from.Short(), why)
	x.deliver(from, k, func(m *grid.Message) {
		m.Attempts, m.Refusal.Why, m.Register.Seq = []grid.AttemptID{id}, why, x.seq()
		if k == grid.KindResult || k == grid.KindDeposit && x.chance(75) {
			m.Result = x.result()
		}
	})
}

// aboutSlots delivers an answer to a question for slots, from anybody, or such a question.
func (x *randomEvents) aboutSlots() {
	from, r, k := x.peer(), grid.Reserve{}, grid.KindReserve
	if len(x.asked) > 0 && x.chance(70) {
		k, r = grid.KindReserveAck, *oneOf(x.rng, x.asked...)
		r.Refusal.Why = oneOf(x.rng, grid.WhyNone, grid.WhyNone, grid.WhyBusy, grid.WhyWounded)
	} else {
		id := x.attempt()
		r = grid.Reserve{Job: id.Task.Job, Attempt: id.Attempt, Round: x.rng.Uint32N(5), Ranks: x.rng.Uint32N(4),
			Needs: oneCore, TTL: time.Minute, Later: x.chance(50)}
	}
	x.last = fmt.Sprintf("%v from %v: %+v", k, from.Short(), r)
	x.deliver(from, k, func(m *grid.Message) { m.Reserve = &r })
}

func (x *randomEvents) offerAny() {
	id, from := x.attempt(), x.peer()
	s, members := x.specs[id.Task.Job], x.members(id.Task.Job)
	if id.Task.Index >= s.Count {
		return
	}
	x.last = fmt.Sprintf("an offer of %v from %v", id, from.Short())
	x.deliver(from, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: s, Class: "a", Lease: x.cfg.Lease, Members: members}
	})
}

// aboutRegister delivers a message between members of a register, from anybody.
func (x *randomEvents) aboutRegister() {
	k := oneOf(x.rng, grid.KindWrite, grid.KindWriteAck, grid.KindCampaign, grid.KindVote, grid.KindKeepalive,
		grid.KindKeepaliveAck)
	id, from := oneOf(x.rng, x.jobs...), x.peer()
	g := grid.RegisterMessage{Job: id, Epoch: x.epoch(id), Seq: x.seq(), Answer: grid.RegisterOK, Done: x.chance(25)}
	if x.chance(50) {
		g.Answer = grid.RegisterAnswer(1 + x.rng.IntN(int(grid.RegisterGone)))
	}
	if x.chance(50) {
		g.Spec, g.Members = x.specs[id], x.members(id)
	}
	if (k == grid.KindWrite || k == grid.KindVote) && x.chance(50) {
		g.Entries = x.entries()
	}
	if k == grid.KindVote {
		g.Seq, g.Next, g.More, g.Owner = 0, x.specs[id].Count+1, x.chance(25), x.peer()
	}
	x.last = fmt.Sprintf("%v from %v: %+v", k, from.Short(), g)
	x.deliver(from, k, func(m *grid.Message) {
		m.Register = g
		if k == grid.KindKeepalive && x.chance(50) {
			m.Attempts = []grid.AttemptID{x.attempt()}
		}
	})
}

func (x *randomEvents) peer() grid.NodeID { return oneOf(x.rng, fastID, slowID, thirdID, strangerID) }

func (x *randomEvents) seq() uint64 {
	if len(x.seqs) == 0 {
		return 0
	}
	return oneOf(x.rng, x.seqs...)
}

// epoch returns one that is near that of a job's register, or any.
func (x *randomEvents) epoch(id grid.JobID) uint32 {
	if r := x.replica(id); r != nil && x.chance(70) {
		s := r.State()
		return oneOf(x.rng, s.Epoch, s.Promised, s.Promised+1, r.CampaignEpoch())
	}
	return x.rng.Uint32N(5)
}

// attempt returns one of the last attempts, a task's current one, or any.
func (x *randomEvents) attempt() grid.AttemptID {
	if len(x.attempts) > 0 && x.chance(70) {
		return oneOf(x.rng, x.attempts...)
	}
	id := oneOf(x.rng, x.jobs...)
	if j, known := x.n.Job(id); known && x.chance(50) {
		v, _ := x.n.Task(grid.TaskID{Job: id, Index: x.rng.Uint32N(j.Spec.Count)})
		return v.ID
	}
	return grid.AttemptID{Task: grid.TaskID{Job: id, Index: x.rng.Uint32N(5)},
		Attempt: grid.Attempt{Epoch: x.rng.Uint32N(4), N: x.rng.Uint32N(4)}}
}

// workerOf returns the worker of an attempt, or any node.
func (x *randomEvents) workerOf(id grid.AttemptID) grid.NodeID {
	v, known := x.n.Task(id.Task)
	switch {
	case !known || x.chance(25):
		return x.peer()
	case v.ID != id && !v.Backup.IsZero() && v.Backup != selfID:
		return v.Backup
	case v.Worker.IsZero() || v.Worker == selfID:
		return x.peer()
	}
	return v.Worker
}

func (x *randomEvents) result() *grid.Result {
	r := &grid.Result{Cause: grid.Exited, Exit: oneOf[int32](x.rng, 0, 0, 3), Wall: time.Second}
	if x.chance(50) {
		r.Cause = grid.Cause(1 + x.rng.IntN(int(grid.Failed)))
	}
	if r.Cause == grid.Lost && x.chance(50) {
		r.Next = "big"
	}
	if x.chance(30) {
		r.Outputs = []grid.File{{Path: "out", Blob: grid.BlobID{byte(1 + x.rng.IntN(5))}, Size: grid.MiB / 2}}
	}
	return r
}

// members returns the true members of a job, or others.
func (x *randomEvents) members(id grid.JobID) []grid.NodeID {
	if r := x.replica(id); r != nil && x.chance(50) {
		return slices.Clone(r.Members())
	}
	switch id.Origin {
	case selfID:
		return oneOf(x.rng, nil, []grid.NodeID{selfID, fastID, slowID})
	case fastID:
		return oneOf(x.rng, nil, three, []grid.NodeID{fastID, selfID, thirdID})
	}
	return oneOf(x.rng, nil, []grid.NodeID{slowID, selfID, fastID}, []grid.NodeID{slowID, strangerID, selfID})
}

func (x *randomEvents) entries() (all []grid.Entry) {
	for i := range uint32(6) {
		if x.chance(50) {
			continue
		}
		e := grid.Entry{Index: i, Epoch: x.rng.Uint32N(5), Worker: x.peer(), Placed: 1, Done: 1,
			Attempt: grid.Attempt{Epoch: x.rng.Uint32N(3), N: x.rng.Uint32N(3)}}
		if x.chance(75) {
			e.Result = x.result()
		}
		all = append(all, e)
	}
	return all
}

// brokenInvariant returns an invariant that does not hold between two steps; "" = all do.
func (r *rig) brokenInvariant() string {
	for key, rec := range r.disk {
		if rec.Kind == grid.RecEntry && rec.Entry.State == grid.Ended && rec.Entry.Epoch == 0 {
			return key + " has ended, and is not in the register"
		}
	}
	return r.n.coordinator.BrokenInvariant()
}
