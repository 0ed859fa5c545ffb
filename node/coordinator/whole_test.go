package coordinator

import (
	"iter"
	"slices"
	"testing"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/coordinator/tuning"
	"skep/node/deposit"
	"skep/node/exclusion"
	"skep/node/peers"
	"skep/node/policies"
	"skep/node/profile"
	"skep/node/quota"
	"skep/node/rates"
	"skep/node/replication"
	"skep/node/worker"
)

var (
	fastID = grid.NodeID{2}
	oneCPU = grid.Resources{CPU: grid.CPU}
)

// replicas are the registers of jobs that this node alone keeps.
type replicas struct{ *replication.Replicas }

func (r replicas) Closed() Register         { return r.Replicas.Closed() }
func (r replicas) Start([]Register)         {}
func (r replicas) Open() iter.Seq[Register] { return func(func(Register) bool) {} }
func (r replicas) AnyOpen() bool            { return false }
func (r replicas) Asking() []Register       { return nil }
func (r replicas) Retire([]Register)        {}
func (r replicas) Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID,
	s grid.RegisterState) Register {
	return r.Replicas.Add(id, spec, submitted, members, s)
}

// owner is a coordinator with its other parts, of a node of one core that is alone.
type owner struct {
	*Coordinator
	profile profile.Profile
	now     grid.Time
	fx      grid.Effects
	timers  []grid.Wake
}

func newOwner(t *testing.T) *owner {
	t.Helper()
	o := &owner{now: 1e9}
	knobs, search, overlay, policy := tuning.Defaults(), discovery.Defaults(), gossip.Defaults(), balance.Node()
	wall, rng, accounts, capacity := grid.Wall{Zero: time.Unix(1_700_000_000, 0)}, grid.NewRand(1, 1), new(quota.Accounts),
		grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
	g := new(gossip.New(selfID, &overlay, rng))
	e := new(rates.New(rates.Config{Speed: 1, ArrivalMemory: time.Minute, Scratch: new(rates.Scratch)}))
	o.profile = profile.New(profile.Config{Self: selfID, Boot: 1, Capacity: capacity, Speed: 1,
		Engines: []string{grid.EngineProcess}, Prior: rates.Prior, Gossip: g}, nil)
	w := new(worker.Worker)
	p := new(peers.New(peers.Config{Self: selfID, Cores: grid.CPU, Speed: 1, ArrivalMemory: time.Minute, Balance: &policy,
		Scratch: new(peers.Scratch), Exec: w.Exec(), Worker: w,
		Gossip: g, Rates: e, Profile: &o.profile,
		Policies: policies.New(policies.Config{Seed: 1, Balance: &policy, Default: knobs.Policy})}))
	*w = worker.New(worker.Config{Self: selfID, Boot: 1, Capacity: capacity, Lease: knobs.Lease, RunTime: p.RunTime,
		Contacts: p, Quota: accounts})
	c := New(Config{Tuning: &knobs, Self: selfID, TakeoverDelay: 3 * knobs.Lease, Expire: time.Minute},
		Parts{Wall: wall, Scratch: new(Scratch), Gossip: g, Peers: p, Worker: w, Discovery: new(discovery.New(selfID, &search,
			rng)),
			Registers: replicas{new(replication.NewReplicas(replication.Config{Self: selfID, Boot: 1, Lease: knobs.Lease},
				wall, rng))},
			Quota: accounts, Deposits: deposit.New(deposit.Config{Self: selfID})})
	o.Coordinator = &c
	g.Start(o.now, o.profile.Next(profile.Load{Free: capacity}), &o.fx)
	return o
}

// submit creates a job and places what can be placed.
func (o *owner) submit(id grid.JobID, spec *grid.JobSpec) *job {
	o.Create(o.now, id, spec, nil, nil, o.now, &o.fx)
	o.place()
	return o.job(id)
}

func (o *owner) place() {
	for o.PlaceNext(o.now, &o.fx) {
	}
	o.timers = append(o.timers, o.fx.Wakes...)
	o.fx.Reset()
}

// pass fires the timers of the next time span.
func (o *owner) pass(d time.Duration) {
	o.now = o.now.Add(d)
	due := o.timers
	o.timers = nil
	for _, w := range due {
		switch {
		case w.At > o.now:
			o.timers = append(o.timers, w)
		case w.Timer.Kind == grid.TimerSearch:
			if f, over := o.discovery.Wake(o.now, w.Timer, o.gossip.Neighbours(),
				func(*grid.Needs, string) *grid.Ad { return nil }, &o.fx); over {
				o.SearchDone(o.now, f, &o.fx)
			}
		default:
			o.Wake(o.now, w.Timer, &o.fx)
		}
	}
	o.place()
}

func jobSpec(count uint32, needs ...grid.LabelNeed) *grid.JobSpec {
	return &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"}, Count: count, Retries: 3,
		Needs: grid.Needs{Resources: oneCPU, Labels: needs}}
}

// A task whose search found no node ends, though another task of its job waits for a node to be idle: that one would
// else find the first waiting in turn, and both would wait for ever.
func TestFailedSearchEndsTaskOfWaitingJob(t *testing.T) {
	o := newOwner(t)
	j := o.submit(grid.JobID{Origin: selfID}, jobSpec(2, grid.LabelNeed{Key: "os", Values: []string{"plan9"}}))
	other := j.tasks.At(1).Live
	o.dequeue(other)
	other.search = 0
	o.parkTask(other, live.ForProof)
	for end := o.now.Add(2 * time.Minute); o.now < end && j.tasks.State(0) != grid.Ended; {
		o.pass(time.Second)
	}
	if v := j.taskView(0); v.State != grid.Ended || v.Result.Cause != grid.Unplaceable {
		t.Errorf("two minutes later it is %v, waits: %v", v.State, v.Waits)
	}
}

// reclaimedAfter is how long a node may have a task of a second that was reclaimed so many times, while others end.
func reclaimedAfter(t *testing.T, reclaims uint8) time.Duration {
	o, spec := newOwner(t), jobSpec(1)
	o.peers.Arrive(o.now, grid.ClassOf(spec), spec, 1)
	ends := func() {
		o.peers.Learn(grid.ClassOf(spec), selfID, spec, &grid.Expectation{},
			&grid.Result{Cause: grid.Exited, Wall: time.Second}, time.Second, 0)
	}
	for range 10 {
		ends()
	}
	j := o.newReplica(grid.JobID{Origin: selfID}, spec, 0, []grid.NodeID{selfID}, grid.RegisterState{})
	l := o.newLiveTask(j, 0)
	l.task().Worker, l.expectation.Made, l.Reclaims = fastID, o.now, reclaims
	o.live.Accept(l)
	o.peers.Start(o.now, &l.expectation)
	o.peers.Given(o.now, &l.expectation, l.class(), fastID, 1)
	for d := time.Second; d < time.Hour; d += time.Second {
		if ends(); o.isStraggler(o.now.Add(d), l) {
			return d
		}
	}
	return time.Hour
}

// Each time a task is reclaimed its next node has twice the time.
func TestNextNodeHasTwiceTheTime(t *testing.T) {
	if first, third := reclaimedAfter(t, 0), reclaimedAfter(t, 2); third < 4*first-4*time.Second || third > 4*first ||
		first > time.Hour/8 {
		t.Errorf("the first node has %v, the third %v: want four times that", first, third)
	}
}

// A task that is pulled in vain, time after time, is counted as moved only where it went to the node that asked; in the
// end it stays in the queue where it is.
func TestPulledInVain(t *testing.T) {
	o, spec := newOwner(t), jobSpec(1)
	j := o.newReplica(grid.JobID{Origin: selfID}, spec, 0, []grid.NodeID{selfID}, grid.RegisterState{})
	l := o.newLiveTask(j, 0)
	pulls := 0
	for ; pulls < 20 && !l.stays(); pulls++ {
		o.live.Release(l)
		o.dequeue(l)
		l.task().Worker = fastID
		o.setState(j, 0, grid.Placed, &o.fx)
		o.live.Accept(l)
		o.pulledAway(o.now, l, fastID, grid.NodeID{99}, &o.fx)
	}
	if pulls != exclusion.MaxVainPulls || l.task().Pulls != 0 {
		t.Errorf("it stays after %d vain pulls, %d of which count as moves", pulls, l.task().Pulls)
	}
}

// An offer names the nodes that would not be offered the task if they pulled it: one that has, twice in vain, one where
// it failed, and those where its class fails; MaxBarred at most.
func TestOfferBarsNodes(t *testing.T) {
	o, spec := newOwner(t), jobSpec(1)
	j := o.newReplica(grid.JobID{Origin: selfID}, spec, 0, []grid.NodeID{selfID}, grid.RegisterState{})
	l := o.newLiveTask(j, 0)
	if barred := l.Barred(o.peers.Blacklist(l.class()), nil); len(barred) > 0 {
		t.Fatalf("%v are barred at first", barred)
	}
	vain, failed, never, class := grid.NodeID{9}, grid.NodeID{8}, grid.NodeID{7}, grid.NodeID{6}
	l.Vain = append(l.Vain, vain, vain, grid.NodeID{}, fastID) // the last one only once: it may fit by now
	l.Fail(failed, grid.Refusal{Why: grid.WhyDisk})
	l.Exclude(never, grid.Refusal{Why: grid.WhyEngine}, grid.Never)
	l.Exclude(grid.NodeID{5}, grid.Refusal{Why: grid.WhyQueue}, o.now.Add(time.Second)) // it may have room soon
	for range 8 {
		o.peers.Failed(o.now, l.class(), class)
	}
	if !o.peers.Excludes(o.now, l.class(), class) {
		t.Fatal("the class does not fail there")
	}
	barred, want := l.Barred(o.peers.Blacklist(l.class()), nil), []grid.NodeID{vain, failed, never, class}
	if !slices.Equal(barred, want) {
		t.Errorf("%v are barred, want %v", barred, want)
	}
	for k := range byte(20) {
		l.Exclude(grid.NodeID{1, k}, grid.Refusal{Why: grid.WhyEngine}, grid.Never)
	}
	if n := len(l.Barred(o.peers.Blacklist(l.class()), nil)); n != grid.MaxBarred {
		t.Errorf("%d are barred", n)
	}
}

// A task is not taken from the queue here for a node on which it has failed, or that pulled it twice in vain; it is for
// one that did so once: what kept it from there may be over.
func TestNotYieldedWhereItFailed(t *testing.T) {
	o, spec := newOwner(t), jobSpec(1)
	spec.Retries = 1
	j := o.submit(grid.JobID{Origin: selfID}, spec)
	l, id := j.at(0).Live, grid.AttemptID{Task: grid.TaskID{Job: j.id}, Attempt: j.at(0).Attempt}
	if l == nil || !o.MayYield(o.now, id, fastID) {
		t.Fatal("it may not be yielded at all")
	}
	vain := grid.NodeID{9}
	if l.Vain = append(l.Vain, vain); !o.MayYield(o.now, id, vain) {
		t.Error("it is kept from a node that has pulled it once in vain")
	}
	if l.Vain = append(l.Vain, vain); o.MayYield(o.now, id, vain) {
		t.Error("it is yielded to a node that has pulled it twice in vain")
	}
	l.Fail(fastID, grid.Refusal{Why: grid.WhyDisk})
	if o.MayYield(o.now, id, fastID) {
		t.Error("it is yielded to the node where it failed")
	}
}
