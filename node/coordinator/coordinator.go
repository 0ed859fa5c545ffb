package coordinator

import (
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/exec"
	"skep/fifo"
	"skep/gossip"
	"skep/grid"
	"skep/node/barrier"
	"skep/node/checkpoint"
	"skep/node/coordinator/bulk"
	"skep/node/coordinator/live"
	"skep/node/coordinator/packed"
	"skep/node/coordinator/register"
	"skep/node/coordinator/retention"
	"skep/node/coordinator/rounds"
	"skep/node/coordinator/tuning"
	"skep/node/coordinator/unwanted"
	"skep/node/deadline"
	"skep/node/decisions"
	"skep/node/deposit"
	"skep/node/mapping"
	"skep/node/ownercache"
	"skep/node/peers"
	"skep/node/policies"
	"skep/node/quota"
	"skep/node/turns"
	"skep/sparse"
)

// Config is what a coordinator is told once.
type Config struct {
	*Tuning
	Self  grid.NodeID
	Boot  uint64 // number of this run
	Known int    // number of other nodes that this one knew when it started

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
	packing packed.Buffer
	group   []*liveTask
	tasks   []*grid.Task
	choices []balance.Choice
	answers [][]balance.State // free buffers of finished decisions
	finals  []uint32
}

// Tuning is how a coordinator behaves.
type Tuning = tuning.Tuning

// Counts are counts since the start.
type Counts struct {
	Full              uint64 // jobs, entries and attempts refused for want of the sender's quota
	Stale             uint64 // messages about attempts that are not live, and unasked answers
	Moved, Local      uint64 // attempts placed elsewhere, and here
	Lost, Backups     uint64 // attempts; backup attempts begun
	Retried, Migrated uint64 // failures recorded, the task then runs again; started attempts given up to go on elsewhere
	deadline.Ends
}

// Coordinator is the jobs that this node owns, and those of whose registers it is a member.
type Coordinator struct {
	changes   fifo.Queue[grid.JobChange] // for the worker: the node carries them; every step reads these up to finished
	takenOver []grid.JobID               // jobs taken over in this step
	bulkEnds  bulk.Ends[*job]
	backups   backupJobs
	mappings  mapping.Set
	queue     jobQueue
	live      live.Table[*liveTask]
	finished

	parts
	cfg      Config
	stats    Counts
	jobs     sparse.Map[grid.JobID, *job] // except packed ones
	repeated unwanted.Results
	weighed  *decisions.Log // nil = none is kept

	grace        []graceEntry // taken over by this node and in takeover grace, oldest first
	closing      []*job       // all their tasks have ended; the members are told soon
	barriers     barrier.Set
	registerWake bool // a TimerRegister is pending for registers
	ownerCache   ownercache.Cache
	restoring    restoring
}

// New returns the coordinator of a node, whose policy package balance must know. Records of an earlier run follow by
// RestoreRegister and RestoreEntry, then Start.
func New(cfg Config, with Parts) Coordinator {
	c := Coordinator{cfg: cfg, weighed: decisions.New(int(cfg.Decisions)), parts: parts{wall: with.Wall,
		scratch: with.Scratch, gossip: with.Gossip, peers: with.Peers, policies: with.Peers.Policies(), worker: with.Worker,
		discovery: with.Discovery, replicas: with.Registers, deposits: with.Deposits, quota: with.Quota,
		awaited: with.Awaited, gangRand: with.GangRand, checkpoints: with.Checkpoints}}
	c.queue.turns = turns.New(&c.cfg.Order, c.peers.Expected, (*job).setQueueIndex)
	c.kept = retention.NewGroups(cfg.Self, cfg.Retention, cfg.TakeoverDelay)
	c.live = live.New[*liveTask]()
	c.barriers = barrier.NewSet()
	c.queue.gangs = rounds.New[*job](cfg.Boot)
	c.restoring.entries = make(map[grid.JobID][]grid.EntryRecord)
	return c
}

// Parts are the other parts of the node, as far as a coordinator asks them.
type Parts struct {
	Wall      grid.Wall
	Scratch   *Scratch
	Gossip    *gossip.Gossip
	Peers     *peers.Peers
	Worker    Worker
	Discovery *discovery.Discovery
	Registers Registers
	Deposits  deposit.Store
	Quota     *quota.Accounts // of what is stored for others; the jobs in it are the coordinator's
	Awaited   Awaited
	GangRand  *grid.Rand // of the pauses of gangs

	Checkpoints checkpoint.Store
}

// parts are the parts that it asks.
type parts struct {
	wall      grid.Wall
	scratch   *Scratch
	gossip    *gossip.Gossip
	peers     *peers.Peers
	policies  *policies.Set
	worker    Worker
	discovery *discovery.Discovery
	replicas  Registers
	deposits  deposit.Store
	quota     *quota.Accounts
	awaited   Awaited
	gangRand  *grid.Rand

	checkpoints checkpoint.Store
}

// Register and Registers are the replicas of registers that it asks.
type (
	Register  = register.Register
	Registers = register.Registers
)

// Worker is what the coordinator reads of this node's own worker. It tells the worker by messages, and by the changes
// that the node carries (NextChange).
type Worker interface {
	Exec() *exec.Exec // read only
	Leaving() bool
}

// Message takes a message about a job, an attempt, a register or a deposit.
func (c *Coordinator) Message(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindState:
		c.pollAnswered(now, from, &m.State, fx)
	case grid.KindReserveAck:
		c.slotsAnswered(now, from, m.Reserve, fx)
	case grid.KindBeat:
		c.beatReceived(now, from, m, fx)
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
		c.ownerClaimed(now, from, &m.Register, false, fx)
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindDeposit, grid.KindDepositAck, grid.KindCheckpoint,
		grid.KindCheckpointKeep:
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
		c.noteStatus(now, from, m, fx)
	case grid.KindRefuse:
		c.refuseReceived(now, from, m, fx)
	case grid.KindResult:
		c.resultReceived(now, from, id, m.Result, fx)
	case grid.KindDeposit:
		c.depositAsked(from, m, fx)
	case grid.KindDepositAck:
		c.depositAnswered(now, from, m, fx)
	case grid.KindCheckpoint:
		c.checkpoints.Report(now, from, id, m.Checkpoint, c, fx)
	case grid.KindCheckpointKeep:
		c.checkpoints.Keep(now, from, id, m.Checkpoint, c, fx)
	}
}

// Wake handles the timers of tasks and of registers.
func (c *Coordinator) Wake(now grid.Time, t grid.Timer, fx *grid.Effects) {
	if t.Kind == grid.TimerRegister {
		c.registerTimer(now, t.Key, fx)
	} else if t.Kind == grid.TimerGang {
		c.gangTimer(now, t.Key, fx)
	} else if t.Kind == grid.TimerCheckpoint {
		c.checkpoints.Tick(now, c, fx)
	} else if t.Kind == grid.TimerSettle {
		c.settle(now, c.replicas.Settle(now), fx)
	} else if t.Kind == grid.TimerDeadline {
		c.missDeadlines(now, fx)
	} else if l := c.live.Get(t.Key); l != nil {
		c.taskTimer(now, t.Kind, l, fx)
	} else if e := c.mappings.Get(t.Key); e != nil {
		c.mappingTimer(now, t.Kind, e, fx)
	}
}

// Counts returns the counts since the start.
func (c *Coordinator) Counts() Counts { return c.stats }

// Begin begins a step.
func (c *Coordinator) Begin() { c.bulkEnds.Begin() }

// End ends a step: it announces the jobs that were taken over in it, lets go of what need not be kept, and packs.
func (c *Coordinator) End(now grid.Time, fx *grid.Effects) {
	c.announceTakeovers(fx)
	c.tallyAgain()
	c.letGo(now, fx)
	c.packFinished()
}
