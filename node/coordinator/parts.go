package coordinator

import (
	"iter"

	"skep/discovery"
	"skep/exec"
	"skep/gossip"
	"skep/grid"
	"skep/node/deposit"
	"skep/node/peers"
	"skep/node/policies"
	"skep/node/quota"
)

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

// Register is this node's replica of a job's register, as the owner or as a member that is not. The coordinator applies
// what has changed at it (Registers.NextChange) after each call.
type Register interface {
	deposit.Register // what is asked of it for files too

	State() grid.RegisterState
	Sole() bool               // this node is the only member
	Place(id grid.NodeID) int // of a member; −1 = it is none
	Leads() bool              // this node is the owner, and the job is not closed
	MayAct(now grid.Time) bool
	Ready() bool
	Cancelled() (written, committed bool)
	Written() iter.Seq2[uint32, *grid.Entry]
	CampaignEpoch() uint32
	AwaitsOutcome() bool
	TakeoverDue(now grid.Time) bool
	Full(place int) bool
	Bytes() grid.Bytes
	Leaves() int
	NeedsLeaf(i uint32) bool

	Restore(e *grid.Entry, committed bool)
	Resume(now grid.Time) (owns bool)
	Own()
	Propose(e *grid.Entry)
	Close()
	Save(fx *grid.Effects)
	HoldInputs()
	MarkDirty()
	StepDown()
	Bury(ended int64, fx *grid.Effects)

	Answered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, dst []uint32) (committed []uint32, valid bool)
	Write(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) grid.RegisterAnswer
	Answer(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer, fx *grid.Effects)
	Vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects)
	VoteAnswered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects)
	GiveUpCampaign(now grid.Time)
	Campaign(now grid.Time, fx *grid.Effects)
	CampaignIfDue(now grid.Time, fx *grid.Effects)
	RenewIfDue(now grid.Time, fx *grid.Effects)
	Repeat(now grid.Time, fx *grid.Effects) (settled bool)
	CountCloseNotice() bool
	Follow(now grid.Time, epoch uint32, owner grid.NodeID)
	Claimed(now grid.Time, from grid.NodeID, c grid.OwnerClaim, fx *grid.Effects)
}

// Registers are this node's replicas of registers.
type Registers interface {
	Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s grid.RegisterState) Register

	// Closed returns the register of a job that this node alone keeps and that is over.
	Closed() Register

	// Start keeps only the given replicas, in their order.
	Start(open []Register)

	// Open iterates over the jobs with other members that are not closed.
	Open() iter.Seq[grid.JobID]
	AnyOpen() bool

	// Retire removes the replicas of which done reports that nothing is left to do.
	Retire(done func(Register) bool)

	// NextChange returns the oldest change that it has not returned yet; false = there is none.
	NextChange() (grid.RegisterChange, bool)

	SendKeepalives(now grid.Time, holds func(grid.NodeID) bool, fx *grid.Effects)

	// Note has a node known as one that shares registers with this one.
	Note(id grid.NodeID)

	// Refuse answers a message about a register that is not here.
	Refuse(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer, fx *grid.Effects)

	// Buried reports whether a job is over, and nothing but that is kept of it.
	Buried(id grid.JobID) bool

	// BuriedWith reports the same of a job with these members.
	BuriedWith(id grid.JobID, members []grid.NodeID) bool

	// BuriedFor reports the same for a register message, and the answer to it.
	BuriedFor(from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) (grid.RegisterAnswer, bool)
}
