package coordinator

import (
	"errors"
	"fmt"
	"time"

	"skep/balance"
	"skep/fifo"
	"skep/grid"
	"skep/node/decisions"
	"skep/node/exclusion"
	"skep/node/mapping"
	"skep/node/ownercache"
	"skep/sparse"
)

// Config is what a coordinator is told once.
type Config struct {
	*Tuning
	Self  grid.NodeID
	Known int // number of other nodes that this one knew when it started

	TakeoverDelay time.Duration // no start lease granted before is valid after it
	ResultRetry   time.Duration // a worker repeats a result after so long at most
	Expire        time.Duration // the view keeps a silent node for so long
}

// Scratch is memory used only within a step, or free for reuse. Nodes that never step at the same time can share one.
type Scratch struct {
	view    []balance.State
	poll    []grid.NodeID
	payers  []grid.NodeID
	reached []grid.NodeID
	handles []uint64
	jobs    []*job
	packed  []byte
	told    []byte
	group   []*liveTask
	tasks   []*grid.Task
	choices []balance.Choice
	answers [][]balance.State // free buffers of finished decisions
	finals  []uint32
}

// Tuning is how a coordinator behaves: most nodes of a grid share it.
type Tuning struct {
	// Policy is the name of the placement policy; default lpas_dec.
	Policy string

	// Lease is how long an owner waits for a beat of an attempt before it runs it elsewhere; default 6 s. Lower detects
	// a dead node sooner, and mistakes a slow network for a dead node sooner.
	Lease time.Duration

	// Strikes is the number of different nodes on which a task may be lost or fail to be prepared before it ends with
	// that cause, whatever its retries allow; default 3, 0 = bounded by the retries only. Higher tolerates more nodes
	// that die by themselves, and lets a task that kills its nodes kill more of them.
	Strikes int

	// Members is the number of members of the register of a job submitted here, this node among them: 1, 3 or 5;
	// default 3. With 3 a job survives the loss of any one node, the origin included; with 5 of any two. Every result
	// waits for a majority of them. With too few nodes connected fewer are taken.
	Members int

	// Confirm is how long a submission waits for a majority of the members to hold it; default 10 s. Then its caller is
	// told that it is not known to be durable. Lower says so sooner, also where nodes are only slow.
	Confirm time.Duration

	// Window bounds the tasks being polled for or offered at once; default 64. Higher hides more latency in a burst,
	// and bases more decisions on the same old state.
	Window int

	mapping.Config

	// PollFloor and PollCap bound the duration of a poll, which is otherwise twice the median round trip; default 50 ms
	// and 1 s.
	PollFloor, PollCap time.Duration

	// Keep bounds the finished tasks whose records are kept, oldest jobs evicted first; default 200,000, so that the
	// largest job is not forgotten when the next one ends.
	Keep int

	// Decisions bounds the log of what decisions weighed, in bytes; default 1 MiB: some 4,000 decisions. 0 keeps none.
	Decisions grid.Bytes
}

// Defaults returns the tuning of a real node.
func Defaults() Tuning {
	return Tuning{Policy: "lpas_dec", Lease: 6 * time.Second, Strikes: 3, Members: 3, Confirm: 10 * time.Second,
		Window: 64, Config: mapping.Defaults(), PollFloor: 50 * time.Millisecond, PollCap: time.Second, Keep: 200_000,
		Decisions: grid.MiB}
}

// Check reports all problems of c.
func (c *Tuning) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Lease < 500*time.Millisecond || c.Lease > time.Hour {
		add("lease %v: want 500ms to 1h", c.Lease)
	}
	if c.Strikes < 0 || c.Strikes > exclusion.MaxStrikes {
		add("strikes %d: want 0 (no bound) to %d nodes", c.Strikes, exclusion.MaxStrikes)
	}
	if c.Members != 1 && c.Members != 3 && c.Members != grid.MaxMembers {
		add("members %d: want 1, 3 or %d", c.Members, grid.MaxMembers)
	}
	if c.Confirm < time.Second || c.Confirm > time.Hour {
		add("confirm %v: want 1s to 1h", c.Confirm)
	}
	if c.Window < 1 || c.Window > 10_000 {
		add("window %d: want 1 to 10000", c.Window)
	}
	if c.PollFloor <= 0 || c.PollCap < c.PollFloor {
		add("poll times %v to %v: want more than 0, and the cap not below the floor", c.PollFloor, c.PollCap)
	}
	if c.Keep < 1 {
		add("kept tasks %d: want 1 or more", c.Keep)
	}
	return errors.Join(append(errs, c.Config.Check())...)
}

// Counts are counts since the start.
type Counts struct {
	Full         uint64 // jobs, entries and attempts refused for want of the sender's quota
	Stale        uint64 // messages about attempts that are not live, and unasked answers
	Moved, Local uint64 // attempts placed elsewhere, and here
	Lost         uint64
	Backups      uint64 // backup attempts begun
}

// Coordinator is the jobs that this node owns, and those of whose registers it is a member.
type Coordinator struct {
	parts
	cfg   Config
	stats Counts

	jobs     sparse.Map[grid.JobID, *job] // except packed ones
	queue    jobQueue
	live     liveTasks
	repeated repeatedResults
	finished
	weighed *decisions.Log // nil = none is kept

	grace        []graceEntry // taken over by this node and in takeover grace, oldest first
	closing      []*job       // all their tasks have ended; the members are told soon
	takenOver    []grid.JobID // jobs taken over in this step
	barriers     cancelBarriers
	bulkEnds     bulkEnds
	registerWake bool // a TimerRegister is pending for registers
	backups      backupJobs
	mappings     mapping.Set
	ownerCache   ownercache.Cache
	changes      fifo.Queue[grid.JobChange] // for the worker: the node carries them
	restoring    restoring
}

// restoring is what is known while records are restored.
type restoring struct {
	entries map[grid.JobID][]grid.EntryRecord // whose register has not come yet
	backups map[grid.TaskID]grid.BackupRecord // backup attempts that may live
}

// New returns the coordinator of a node, or says why its policy cannot be had. Records of an earlier run follow by
// RestoreRegister and RestoreEntry, then Start.
func New(cfg Config, with Parts) (*Coordinator, error) {
	c := &Coordinator{cfg: cfg, weighed: decisions.New(int(cfg.Decisions)), parts: parts{wall: with.Wall,
		scratch: with.Scratch, gossip: with.Gossip, peers: with.Peers, policies: with.Peers.Policies(), worker: with.Worker,
		discovery: with.Discovery, replicas: with.Registers, deposits: with.Deposits, quota: with.Quota}}
	c.queue.turns.Track((*job).setQueueIndex)
	c.live.retries.Track((*liveTask).setQueueIndex)
	c.barriers.jobs.Track((*job).setBarrierIndex)
	return c, c.policies.Check()
}

// Message takes a message about a job, an attempt, a register or a deposit.
func (c *Coordinator) Message(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindState:
		c.pollAnswered(now, from, &m.State, fx)
	case grid.KindBeat:
		c.beatReceived(now, from, m.Attempts, fx)
	case grid.KindStartLease:
		c.grantStartLease(now, from, m, fx)
	case grid.KindWrite:
		c.applyWrite(now, from, &m.Register, fx)
	case grid.KindWriteAck:
		c.writeAnswered(now, from, &m.Register, fx)
	case grid.KindCampaign:
		c.vote(now, from, &m.Register, fx)
	case grid.KindVote:
		c.voteAnswered(now, from, &m.Register, fx)
	case grid.KindTakeover:
		c.ownerClaimed(now, from, m.Register.Job, grid.OwnerClaim{Owner: m.Register.Owner, Epoch: m.Register.Epoch}, fx)
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindDeposit, grid.KindDepositAck:
		if len(m.Attempts) != 1 {
			c.stats.Stale++
			return
		}
		c.attemptMessage(now, from, m, fx)
	}
}

// attemptMessage takes a message about one attempt, or about a deposit, which is named like one.
func (c *Coordinator) attemptMessage(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	switch m.Kind {
	case grid.KindAccept:
		c.acceptReceived(now, from, id, fx)
	case grid.KindRefuse:
		c.refuseReceived(now, from, id, m.Refusal, m.Puller, fx)
	case grid.KindResult:
		c.resultReceived(now, from, id, m.Result, fx)
	case grid.KindDeposit:
		c.depositAsked(from, m, fx)
	case grid.KindDepositAck:
		c.depositAnswered(now, from, m, fx)
	}
}

// Wake handles the timers of tasks and of registers.
func (c *Coordinator) Wake(now grid.Time, t grid.Timer, fx *grid.Effects) {
	if t.Kind == grid.TimerRegister {
		c.registerTimer(now, t.Key, fx)
	} else if l := c.live.get(t.Key); l != nil {
		c.taskTimer(now, t.Kind, l, fx)
	} else if e := c.mappings.Get(t.Key); e != nil {
		c.mappingTimer(now, t.Kind, e, fx)
	}
}

// Begin begins a step.
func (c *Coordinator) Begin() { c.bulkEnds.left = bulkEndBatch }

// End ends a step: it announces the jobs that were taken over in it, and packs those that ended.
func (c *Coordinator) End(fx *grid.Effects) {
	c.announceTakeovers(fx)
	c.packFinished()
}
