package register

import (
	"iter"
	"time"

	"skep/grid"
	"skep/node/deposit"
)

// Register is this node's replica of a job's register. The coordinator applies what has changed at it
// (Registers.NextChange) after each call.
type Register interface {
	deposit.Register // what is asked of it for files too
	View
	Owner
	Member
	Voter
	Seats

	Restore(e *grid.Entry, committed bool)
	Resume(now grid.Time) (owns bool)
	Save(fx *grid.Effects)
	HoldInputs()
}

// View is what is known of a register here.
type View interface {
	State() grid.RegisterState
	Sole() bool               // this node is the only member
	Place(id grid.NodeID) int // of a member; −1 = it is none
	Cancelled() (written, committed bool)
	Written() iter.Seq2[uint32, *grid.Entry]
	Retried() int // recorded failures after which a task was run again, or is to be
	AwaitsOutcome() bool
	Bytes() grid.Bytes
	Leaves() int
	NeedsLeaf(i uint32) bool
}

// Owner is what the register's owner does.
type Owner interface {
	Leads() bool // this node is the owner, and the job is not closed
	MayAct(now grid.Time) bool
	Ready() bool
	Full(place int) bool

	Own(now grid.Time)
	Propose(e *grid.Entry)
	Close()
	Reopen(now grid.Time, fx *grid.Effects)
	DecidedNow(i uint32) bool
	Signer
	MarkDirty()
	StepDown()
	Answered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, dst []uint32,
		fx *grid.Effects) (committed []uint32, valid bool)
	RenewIfDue(now grid.Time, voters []grid.NodeID, fx *grid.Effects)
	Repeat(now grid.Time, fx *grid.Effects) (settled bool)
	CountCloseNotice() bool
	Bury(ended int64, fx *grid.Effects)
}

// Signer signs as the owner of a signed job, and checks what a worker has signed. Of another job nothing is.
type Signer interface {
	Prove(o *grid.Offer, worker grid.NodeID) // adds to an offer what proves that the attempt is the worker's
	SignEnd(task uint32, r *grid.Result) *grid.Result
	Proves(worker grid.NodeID, id grid.AttemptID, r *grid.Result) bool
}

// Seats are who keeps the register, and how that changes.
type Seats interface {
	First() []grid.NodeID  // as the job's origin chose them, itself first
	Places() []grid.NodeID // the members, and who is being replaced or joins
	NoteAble(id grid.NodeID)
	DeadMember(now grid.Time, after time.Duration) grid.NodeID
	Declined(id grid.NodeID) bool
	Admit(now grid.Time, out, in grid.NodeID)
	Advance(now grid.Time, fx *grid.Effects)
}

// Member is what a member does that is not the owner.
type Member interface {
	Write(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) grid.RegisterAnswer
	Answer(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer, fx *grid.Effects)
	Follow(now grid.Time, epoch uint32, owner grid.NodeID)
	Claimed(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, announced bool, fx *grid.Effects)
	OfferedBy(from grid.NodeID, o *grid.Offer, fx *grid.Effects) bool
	Mandate() string // the votes for the owner, of a signed job
}

// Voter is a member's part in the choice of a new owner.
type Voter interface {
	TakeoverDue(now grid.Time) bool
	CampaignEpoch() uint32
	Campaign(now grid.Time, voters []grid.NodeID, fx *grid.Effects)
	CampaignIfDue(now grid.Time, voters []grid.NodeID, fx *grid.Effects)
	GiveUpCampaign(now grid.Time)
	Vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects)
	VoteAnswered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects)

	// Whether what is known of ends here is current.
	AskOpened(caller uint64, until grid.Time, members []grid.NodeID, fx *grid.Effects)
	RepeatOpened(now grid.Time, members []grid.NodeID, fx *grid.Effects)
	OpenedAnswered(from grid.NodeID, g *grid.RegisterMessage) bool
}

// Registers are this node's replicas of registers.
type Registers interface {
	Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s grid.RegisterState) Register

	// Admits reports whether a job that another node describes may be kept: of a signed one its origin has signed the
	// members.
	Admits(g *grid.RegisterMessage) bool

	// Closed returns the register of a job that this node alone keeps and that is over.
	Closed() Register

	// Start keeps only the given replicas, in their order.
	Start(open []Register)

	// StartSettling begins the time in which peers may tell whether the data folder was put back, of which this node knew
	// so many. HasTold notes that one has, and reports whether that ends it; Settle reports whether it is over by now.
	StartSettling(now grid.Time, known int, fx *grid.Effects)
	HasTold(now grid.Time, id grid.NodeID, fx *grid.Effects) (ends bool)
	Settle(now grid.Time) (over bool)

	// Open iterates over the registers with other members whose jobs are not closed.
	Open() iter.Seq[Register]
	AnyOpen() bool

	// Asking lists those of which callers wait for what AskOpened asks.
	Asking() []Register

	// Retire removes replicas of which nothing is left to do.
	Retire(done []Register)

	// NextChange returns the oldest change that it has not returned yet; false = there is none.
	NextChange() (grid.RegisterChange, bool)

	// SendKeepalives tells the other members which registers this node owns, and forgets members but for those in kept.
	SendKeepalives(now grid.Time, kept []grid.NodeID, fx *grid.Effects)

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
