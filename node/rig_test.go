package node

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/replication"
)

// rig drives one node by hand: events in, effects out.
type rig struct {
	t    *testing.T
	n    *Node
	cfg  Config
	now  grid.Time
	fx   grid.Effects
	disk map[string]grid.Record // records saved, by kind and key

	wakes     []grid.Wake
	mostSaves int // most records saved in one step so far
}

var (
	selfID = grid.NodeID{1}
	fastID = grid.NodeID{2}
	slowID = grid.NodeID{3}
)

// submissionTick is how often pending submissions are looked at.
const submissionTick = 250 * time.Millisecond

// wall is the wall clock of every test.
var wall = grid.Wall{Zero: time.Unix(1_700_000_000, 0)}

func config(self grid.NodeID) Config {
	c := Defaults()
	c.Self, c.Boot, c.Seed, c.Name = self, 1, 7, "self"
	c.Capacity = grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
	c.Labels = []grid.Label{{Key: "os", Value: "linux"}}
	c.Members = 1 // where a test does not say
	c.Pull = false
	return c
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	c := config(selfID)
	if change != nil {
		change(&c)
	}
	n, err := New(c, wall)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, n: n, cfg: c, now: 1e9, disk: map[string]grid.Record{}}
	r.step(grid.Event{Kind: grid.EvStart})
	return r
}

// restart makes a new node from the records on disk.
func (r *rig) restart() *rig { return r.restartAt(wall) }

// restartAt is restart with another wall clock.
func (r *rig) restartAt(wall grid.Wall) *rig {
	c := r.cfg
	c.Boot++
	n, err := New(c, wall)
	if err != nil {
		r.t.Fatal(err)
	}
	s := &rig{t: r.t, n: n, cfg: c, now: r.now + 1e9, disk: r.disk}
	for _, rec := range r.disk {
		n.Restore(&rec)
	}
	s.step(grid.Event{Kind: grid.EvStart})
	return s
}

func (r *rig) step(ev grid.Event) {
	r.t.Helper()
	r.fx.Reset()
	r.n.Step(r.now, &ev, &r.fx)
	r.wakes = append(r.wakes, r.fx.Wakes...)
	saves := len(r.fx.Saves)
	for i := range r.fx.Saves {
		saves += int(r.fx.Saves[i].Entry.Further)
	}
	r.mostSaves = max(r.mostSaves, saves)
	for _, rec := range r.fx.Saves {
		key := ""
		switch rec.Kind {
		case grid.RecWork:
			key = "work " + rec.Work.ID.String()
		case grid.RecClass:
			key = "class " + rec.Class.Class
		case grid.RecRegister:
			key = "register " + rec.Register.ID.String()
		case grid.RecTombstone:
			key = "tombstone " + rec.Tombstone.ID.String()
		case grid.RecCheckpoint:
			key = "checkpoint " + rec.Checkpoint.ID.Task.String()
		case grid.RecEntry:
			key = "entry " + rec.Entry.ID.Task.String()
		}
		if rec.Delete {
			delete(r.disk, key)
			if rec.Kind == grid.RecEntry {
				for task, k := rec.Entry.ID.Task, rec.Entry.Further; k > 0; k-- {
					task.Index++
					delete(r.disk, "entry "+task.String())
				}
			}
		} else {
			r.disk[key] = rec
		}
	}
}

// pass advances time and fires the timers that were set, in order; it stops at the first step that sends, starts or
// fetches something, or only at timers of the given kinds.
func (r *rig) pass(d time.Duration, kinds ...grid.TimerKind) {
	r.t.Helper()
	end := r.now.Add(d)
	for {
		next := -1
		for i, w := range r.wakes {
			if w.At <= end && (next < 0 || w.At < r.wakes[next].At) {
				next = i
			}
		}
		if next < 0 {
			r.now = end
			return
		}
		w := r.wakes[next]
		r.wakes = append(r.wakes[:next], r.wakes[next+1:]...)
		r.now = max(r.now, w.At)
		r.step(grid.Event{Kind: grid.EvWake, Timer: w.Timer})
		if len(r.fx.Sends)+len(r.fx.Starts)+len(r.fx.Fetches)+len(r.fx.Replies) > 0 &&
			(len(kinds) == 0 || slices.Contains(kinds, w.Timer.Kind)) {
			return
		}
	}
}

func (r *rig) deliver(from grid.NodeID, k grid.Kind, fill func(*grid.Message)) {
	r.t.Helper()
	m := &grid.Message{Kind: k}
	if fill != nil {
		fill(m)
	}
	r.now++
	if k == grid.KindOffer { // it follows a poll
		m.Offer.Stamp = r.n.worker.Stamp(r.now)
	}
	r.step(grid.Event{Kind: grid.EvMessage, Peer: from, Msg: m})
}

func (r *rig) deliverFor(from grid.NodeID, k grid.Kind, id grid.AttemptID, res *grid.Result) {
	r.t.Helper()
	r.deliver(from, k, func(m *grid.Message) { m.Attempts, m.Result = []grid.AttemptID{id}, res })
}

// join connects a peer of a speed with an os label.
func (r *rig) join(id grid.NodeID, speed float64, os string) {
	r.t.Helper()
	r.joinAs(id, speed, os, grid.AllFeatures)
}

// joinAs connects a peer with the given features.
func (r *rig) joinAs(id grid.NodeID, speed float64, os string, f grid.FeatureSet) {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: id, RTT: time.Millisecond, Kinds: grid.AllKinds, Features: f})
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 1}, Name: "peer", Speed: speed, Availability: 1,
		Capacity: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB},
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: os}}}
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
}

func spec(change func(*grid.JobSpec)) *grid.JobSpec {
	s := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"}, Count: 1, Retries: 3,
		Needs: grid.Needs{Resources: oneCore}}
	if change != nil {
		change(s)
	}
	return s
}

func jobID(i byte) grid.JobID { return grid.JobID{Origin: selfID, Nonce: [10]byte{i}} }

func (r *rig) submit(id grid.JobID, s *grid.JobSpec) {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvSubmit, Caller: 9, Job: id, Spec: s})
}

// sent returns the messages of a kind of the last step.
func (r *rig) sent(k grid.Kind) []grid.Send {
	var out []grid.Send
	for _, s := range r.fx.Sends {
		if s.Msg.Kind == k {
			out = append(out, s)
		}
	}
	return out
}

func (r *rig) one(k grid.Kind) grid.Send {
	r.t.Helper()
	s := r.sent(k)
	if len(s) != 1 {
		r.t.Fatalf("%d messages of kind %v, want 1; all: %v", len(s), k, kindsOf(r.fx.Sends))
	}
	return s[0]
}

func kindsOf(s []grid.Send) (out []string) {
	for i := range s {
		out = append(out, s[i].Msg.Kind.String())
	}
	return out
}

func (r *rig) task(id grid.JobID) TaskView {
	r.t.Helper()
	v, ok := r.n.Task(grid.TaskID{Job: id})
	if !ok {
		r.t.Fatalf("job %v is not known", id.Short())
	}
	return v
}

func (r *rig) want(id grid.JobID, s grid.TaskState) {
	r.t.Helper()
	if got := r.task(id).State; got != s {
		r.t.Fatalf("task is %v, want %v; traces %v", got, s, r.task(id).Traces)
	}
}

// answer answers every poll of the last step; the node named soonest promises the earliest completion.
func (r *rig) answer(soonest grid.NodeID) {
	r.t.Helper()
	polls := r.sent(grid.KindPoll)
	type q struct {
		to grid.NodeID
		id uint64
	}
	var qs []q
	for i := range polls {
		qs = append(qs, q{polls[i].To, polls[i].Msg.Poll.ID})
	}
	for _, p := range qs {
		ect := time.Hour
		if p.to == soonest {
			ect = time.Millisecond
		}
		r.deliver(p.to, grid.KindState, func(m *grid.Message) {
			m.State = grid.State{ID: p.id, ECT: ect, Speed: 1, Cores: grid.CPU, Mine: 1}
		})
	}
}

// offered brings a job to the point where it is offered to a peer, and returns the attempt.
func (r *rig) offered(id grid.JobID, s *grid.JobSpec, to grid.NodeID) grid.AttemptID {
	r.t.Helper()
	r.submit(id, s)
	r.answer(to)
	o := r.one(grid.KindOffer)
	if o.To != to {
		r.t.Fatalf("offered to %v, want %v", o.To.Short(), to.Short())
	}
	return o.Msg.Offer.ID
}

var exitZero = &grid.Result{Cause: grid.Exited, Wall: time.Second}

// trust gives a node the best track record: many results, all on time.
func (r *rig) trust(id grid.NodeID) {
	for range 16 {
		p := grid.Expectation{Made: r.now}
		r.n.peers.Given(r.now, &p, "", id, 1)
		r.n.peers.Returned(r.now, &p, id, true)
	}
}

// replica returns this node's replica of a job's register; nil if there is none, or it has no other members.
func (r *rig) replica(id grid.JobID) *replication.Replica {
	for _, x := range r.n.replicas.Open() {
		if x.Job() == id {
			return x
		}
	}
	return nil
}

// knows reports whether a job is here.
func (r *rig) knows(id grid.JobID) bool {
	_, ok := r.n.Job(id)
	return ok
}

// spec returns the specification of a job that is here.
func (r *rig) spec(id grid.JobID) *grid.JobSpec {
	r.t.Helper()
	v, ok := r.n.Job(id)
	if !ok {
		r.t.Fatalf("job %v is not known", id.Short())
	}
	return v.Spec
}

// placed returns the number of a job's tasks that are offered or placed.
func (r *rig) placed(id grid.JobID) int {
	v, _ := r.n.Job(id)
	return v.Placed
}

// leases returns the timers that are set for leases of attempts, in the order of their tasks.
func (r *rig) leases() (timers []grid.Timer) {
	for _, w := range r.wakes {
		if w.Timer.Kind == grid.TimerLease && !slices.Contains(timers, w.Timer) {
			timers = append(timers, w.Timer)
		}
	}
	slices.SortFunc(timers, func(a, b grid.Timer) int { return cmp.Compare(a.Key, b.Key) })
	return timers
}

// Bounds of the parts, as the tests state them.
const (
	bulkEndBatch        = 2000
	maxCachedOwners     = 4096
	maxCachedByOne      = 1024
	maxPrepareFailures  = 5
	maxDemotions        = 4
	maxEvictionsPerStep = 256
	maxEvictedRecords   = 2000
	maxDialled          = 256
	maxRepeats          = 8
	closeDelay          = 20 * time.Millisecond
)
