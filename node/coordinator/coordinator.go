package coordinator

import (
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/exec"
	"skep/gossip"
	"skep/grid"
	"skep/node/deposit"
	"skep/node/ownercache"
	"skep/node/peers"
	"skep/node/policies"
	"skep/node/quota"
	"skep/sparse"
)

// Config is what a coordinator is told once.
type Config struct {
	*Tuning
	Self    grid.NodeID
	Known   int  // number of other nodes that this one knew when it started
	Private bool // this node runs only tasks that were submitted to it
	Whole   bool // estimates count a running attempt in full

	TakeoverDelay time.Duration // no start lease granted before is valid after it
	ResultRetry   time.Duration // a worker repeats a result after so long at most
	Expire        time.Duration // the view keeps a silent node for so long
	Forward       string        // how searches are forwarded, in words
	RunTime       exec.Law      // expected run times on this node
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
	Ledger    *quota.Ledger // of what is stored for others; the jobs in it are the coordinator's
}

// Scratch is memory used only within a step, or free for reuse. Nodes that never step at the same time can share one.
type Scratch struct {
	view    []balance.State
	poll    []grid.NodeID
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

// Worker is this node's own worker, as far as the coordinator needs more of it than messages tell.
type Worker interface {
	Exec() *exec.Exec // read only
	Stamp(now grid.Time) uint64
	Leaving() bool

	// OwnLeasesDue says that waiting attempts of this node's own jobs may get start leases now.
	OwnLeasesDue()

	// ForgetRegistered drops the attempts of a job that is over.
	ForgetRegistered(id grid.JobID, fx *grid.Effects)

	// FollowOwner reports the attempts of a job to its new owner.
	FollowOwner(now grid.Time, id grid.JobID, owner grid.NodeID, epoch uint32, fx *grid.Effects)

	// OwnerClaimed says that a node claims to be a job's owner, or that another is.
	OwnerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, c grid.OwnerClaim, fx *grid.Effects)
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
	archive  archive // finished jobs, oldest end first
	packing  []*job  // finished jobs to be packed after this step

	grace        []graceEntry // taken over by this node and in takeover grace, oldest first
	closing      []*job       // all their tasks have ended; the members are told soon
	takenOver    []grid.JobID // jobs taken over in this step
	barriers     cancelBarriers
	bulkEnds     bulkEnds
	registerWake bool // a TimerRegister is pending for registers
	backups      backupJobs
	ownerCache   ownercache.Cache
	restoring    restoring
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
	ledger    *quota.Ledger
}

// restoring is what is known while records are restored.
type restoring struct {
	entries map[grid.JobID][]grid.EntryRecord // whose register has not come yet
	backups map[grid.TaskID]grid.BackupRecord // backup attempts that may live
}

// New returns the coordinator of a node, or says why its policy cannot be had. Records of an earlier run follow by
// RestoreRegister and RestoreEntry, then Start.
func New(cfg Config, with Parts) (*Coordinator, error) {
	c := &Coordinator{cfg: cfg, parts: parts{wall: with.Wall, scratch: with.Scratch, gossip: with.Gossip, peers: with.Peers,
		policies: with.Peers.Policies(), worker: with.Worker, discovery: with.Discovery, replicas: with.Registers,
		deposits: with.Deposits, ledger: with.Ledger}}
	c.queue.turns.Track((*job).setQueueIndex)
	c.live.retries.Track((*liveTask).setQueueIndex)
	c.barriers.jobs.Track((*job).setBarrierIndex)
	_, err := c.policy("")
	return c, err
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
	}
}

// Begin begins a step.
func (c *Coordinator) Begin() { c.bulkEnds.left = bulkEndBatch }

// End ends a step: it announces the jobs that were taken over in it, and packs those that ended.
func (c *Coordinator) End(fx *grid.Effects) {
	c.announceTakeovers(fx)
	c.packFinished()
}

// countOffence counts an answer that this node did not ask for, and reports the sender to the driver. An answer is
// accepted only from the node that was asked, and only for that question; a late or repeated answer of an honest node
// is ignored.
func (c *Coordinator) countOffence(from grid.NodeID, fx *grid.Effects) {
	c.stats.Stale++
	fx.Offences = append(fx.Offences, from)
}

// isOutsider reports whether a node answers for a register of which it is not a member.
func (c *Coordinator) isOutsider(j *job, from grid.NodeID) bool {
	return j != nil && j.replica.Place(from) < 0
}
