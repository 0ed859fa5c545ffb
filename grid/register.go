package grid

import (
	"slices"
	"time"
)

// Entry is how a task ended: an entry of its job's register. It is immutable once built. The entry after the last task
// is the job's cancellation: it has no result, or that of the tasks that it ends. Those after it are about what the job
// waits for; then, of a gang that counts its moves, one about these, and of a job with a budget one about what it has
// used.
type Entry struct {
	Index   uint32
	Epoch   uint32 // in which this member accepted it
	Attempt Attempt
	Worker  NodeID
	Lost    int32   // attempts lost before
	Result  *Result // nil of a caller's cancellation
	Placed  int64   // wall time in Unix nanoseconds; in a message, the age
	Began   int64
	Done    int64

	// Round counts the recorded ends of the task before this one, each of a failed attempt. An entry of a later round
	// succeeds an open one.
	Round    uint32
	Again    time.Duration // > 0: the entry is open, and the next attempt may start so long after Done; 0 = it is final
	Failures []Failure     // the newest of the ends before this one, oldest first; at most MaxFailures

	// A caller had the task run again after an end that was final, or had a cancelled job go on. RetriedAt is the round
	// of the first end after the newest such retry, 0 = there was none; an open entry of the round before is the retry
	// itself, with the result of the end that it succeeds. RetryEpoch is the epoch of the owner that decided it: no
	// attempt of an earlier one counts any more.
	RetriedAt  uint32
	RetryEpoch uint32

	Used    time.Duration // of JobSpec.UsedEntry: for how long attempts of the job have run; else 0
	Offered *OfferedTasks // of JobSpec.OfferedEntry; else nil
}

// IsRetry reports whether the entry is a caller's retry, and no end of an attempt.
func (e *Entry) IsRetry() bool { return e.RetriedAt == e.Round+1 }

// Open reports whether the task goes on after this end.
func (e *Entry) Open() bool { return e.Again > 0 }

// OlderThan reports whether an entry of the same task that was accepted in that epoch, and of that round, takes the
// place of e: the later epoch counts, and within an epoch the later round.
func (e *Entry) OlderThan(epoch, round uint32) bool {
	return e.Epoch < epoch || e.Epoch == epoch && e.Round < round
}

// Weight estimates the bytes of an entry on the wire, on disk and in memory.
func (e *Entry) Weight() int {
	n := 128 + e.Result.Weight()
	for i := range e.Failures {
		n += e.Failures[i].Weight()
	}
	if e.Offered != nil {
		n += 8 * (1 + len(e.Offered.Free))
	}
	return n
}

// RegisterMessage is the part of a message between the members of a job's register. Which fields are set depends on the
// message's kind.
type RegisterMessage struct {
	Job     JobID
	Epoch   uint32
	Seq     uint64 // drawn by the sender of a request; the answer repeats it
	Answer  RegisterAnswer
	Owner   NodeID        // in answers and takeovers: of Epoch; in a vote: of the highest epoch accepted
	Spec    *JobSpec      // with Members and Age: creates a missing replica
	Members []NodeID      // with Spec: as the origin chose them, itself first
	Age     time.Duration // since submission
	Done    bool          // the job is closed: every task has ended, and that is committed
	Opened  uint32        // as in RegisterState, of the sender
	Set     *Membership   // as in RegisterState, of the sender
	Next    uint32        // in a campaign: the first entry asked for; in a vote: the first that is missing
	More    bool          // entries from Next on follow
	Entries []Entry
	// of a keepalive: number of the sender's registers that the receiver is believed to have; of KindAwaited: tasks of the
	// job
	Count uint32
	Sum   uint64 // of a keepalive: sum of their hashes
	// remaining quota in a keepalive's answer: 0 = a further job of any size would be stored; else the most tasks that it
	// may have, plus one
	Room uint32

	Signatures // of a signed job
}

// Signatures are those of a signed job that a message between its members carries: see package chain.
type Signatures struct {
	Genesis string // with Spec: the origin's, of the job and its first members
	Vote    string // in a vote: the voter's
	// in a write: the votes for the owner; "" in the first epoch, and where the receiver has them; in an answer or a
	// claim: those for Owner
	Mandate string
	Change  string // in a write: a change of members that the receiver is to sign; in the answer: its signature
}

// RegisterAnswer is a member's answer to a write, a campaign or a keepalive.
type RegisterAnswer uint8

// Answers of a member.
const (
	RegisterOK      RegisterAnswer = iota + 1 // written, voted for, or all registers known
	RegisterHigher                            // a higher epoch has been voted for: Epoch, and Owner if it has one
	RegisterLive                              // no vote: the owner was heard of recently
	RegisterUnknown                           // there is no such register here
	RegisterDone                              // the job is closed; the entries are the outcome
	RegisterDiffers                           // of a keepalive: other registers are known here; list yours one by one
	RegisterFull                              // not written: no quota is left here for the sender, or for the job's origin
	// the job is closed, and its outcome was evicted here; Epoch is the highest of the outcome's entries
	RegisterGone
	RegisterReplaced // the sender is no member any more: see Set
)

// Keeps reports whether a node has a place in the register, as the message describes it.
func (g *RegisterMessage) Keeps(id NodeID) bool {
	if g.Set != nil && len(g.Set.Members) != len(g.Members) {
		return false // no change makes the members more or fewer
	} else if g.Set != nil {
		return id == g.Set.Extra || slices.Contains(g.Set.Members, id)
	}
	return slices.Contains(g.Members, id)
}

// ValidMembers reports whether a list can be the members of a job's register, as the job's origin chooses them.
func ValidMembers(id JobID, members []NodeID) bool {
	if len(members) < 3 || len(members) > MaxMembers || len(members)%2 == 0 || members[0] != id.Origin {
		return false
	}
	for k := range members {
		if slices.Contains(members[:k], members[k]) {
			return false
		}
	}
	return true
}

// RegisterState is what a member saves of a register besides the entries.
type RegisterState struct {
	Promised uint32      // highest epoch voted for or accepted; no lower one is taken part in
	VotedFor NodeID      // the candidate of Promised
	Epoch    uint32      // highest accepted; 0 = none yet
	Owner    NodeID      // of Epoch
	Done     bool        // every task has ended, and that is committed: the job is closed
	Opened   uint32      // times that the register was opened for a retry; what is said of an earlier close is void
	Set      *Membership // who keeps it since members were replaced; nil = those whom the origin chose

	// of a signed job: the origin's signature of its first members, and the votes for the owner of Epoch
	Genesis, Mandate string
}

// OwnerClaim is a node's statement about who owns a register.
type OwnerClaim struct {
	Owner NodeID
	Epoch uint32
}

// RegisterChangeKind is what has changed about a register.
type RegisterChangeKind uint8

// Changes of a register. What they are about is on disk with the step, or is saved by whoever applies the change.
const (
	// this node is not the owner any more: others may have overruled all that it decided
	RegisterLost    RegisterChangeKind = iota
	RegisterWritten                    // the owner has written an entry
	// any entry may be another one: a majority voted for this node, or the outcome was learned
	RegisterMerged
	RegisterOwned     // this node is the owner, of a new epoch
	RegisterRenewed   // as RegisterOwned, and it was the owner before and nobody else has acted since
	RegisterMoved     // another node is the owner; may come again for the same epoch
	RegisterClosed    // every task has ended, and that is committed
	RegisterVoid      // the origin has forgotten the register: the job is long over
	RegisterOver      // the job is closed, as another member says that does not know how it ended
	RegisterForgotten // the job is over, and no member has its outcome any more
	RegisterReopened  // the job was closed and goes on: tasks of it are run again
	RegisterCurrent   // no task that has ended here goes on, as a majority of the members says
	RegisterOutdated  // tasks that have ended here may go on, as another member says
	RegisterUncertain // too few members have answered to tell that
	RegisterReseated  // members were replaced, as this node decided as the owner, or this node was
	RegisterUnneeded  // this node was given the record, and is not to be a member
)

// RegisterChange is a change of a register that whoever keeps the job has to follow.
type RegisterChange struct {
	Kind   RegisterChangeKind
	Job    JobID
	Index  uint32 // of the entry: RegisterWritten only
	Caller uint64 // who asked: RegisterCurrent, RegisterOutdated and RegisterUncertain only
}

// JobChangeKind is what has changed about a job for the worker of its attempts.
type JobChangeKind uint8

// Changes of a job.
const (
	JobOver    JobChangeKind = iota // its attempts are dropped
	JobMoved                        // it has another owner, to whom its attempts are reported
	JobClaimed                      // a node says who its owner is
	JobLeased                       // this node owns it and a majority answers again: its attempts may get start leases
	JobHeld                         // this node owns it, and it waits for other jobs: not for the worker
)

// JobChange is a change of a job that the worker of its attempts on this node has to follow.
type JobChange struct {
	Kind  JobChangeKind
	Job   JobID
	From  NodeID      // who says so: JobClaimed only
	Claim OwnerClaim  // JobMoved and JobClaimed
	Set   *Membership // JobClaimed: who keeps the register, as From says; nil = it says nothing of that
}

// KnownRegister is what a node knows, as a member, of the register of an offered attempt's job.
type KnownRegister struct {
	Known    bool // the rest is unset without a replica here
	Members  []NodeID
	Changes  uint32 // as in Offer
	Verified bool   // the job's origin named the members, or is the one that offers
	Owner    NodeID
	Epoch    uint32 // of the owner
	Closed   bool
}
