package coordinator

import (
	"iter"

	"skep/grid"
	"skep/node/deposit"
)

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
