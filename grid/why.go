package grid

import "time"

// Why is the reason of a refusal or of a wait.
type Why uint8

// Reasons. Those up to WhyNever, WhyAccess, WhyResource and WhyUntrusted hold as long as the node's configuration does;
// the others may pass.
const (
	WhyNone      Why = iota
	WhyCPU           // more cores than the node has
	WhyMemory        // more memory than the node has
	WhyLabel         // a label is missing or has another value
	WhyEngine        // no such engine
	WhyProgram       // the program cannot be executed there
	WhyNever         // separates "never" from "not now"; not a reason itself
	WhyQueue         // its queue is full
	WhyDrain         // it takes no new work
	WhyDisk          // its disk is nearly full
	WhyFetch         // the program, an input or the output could not be fetched
	WhySilent        // it did not answer in time
	WhyGone          // no connection to it
	WhyLost          // it accepted and was lost
	WhyStale         // the attempt is not the live one
	WhyNobody        // no known node fits, and no search found one
	WhyPolicy        // the policy waits
	WhyFailed        // it failed to prepare the task
	WhyOverdue       // it has kept the task waiting far longer than estimated; only older versions say so
	WhyMajority      // no majority of the job's register answers
	WhyUnproven      // the fitting nodes have yet to deliver the attempts they have
	WhyAvoided       // tasks of the class fail there, and not elsewhere: it is blacklisted
	WhyRoom          // no deposit room is left for others
	WhyStuck         // straggler: it has had the attempt for far longer than others take
	WhyAccess        // it would show a job under access: owner to any member
	WhyPrivate       // it takes no tasks of others: it cannot isolate them, or has no role for it
	WhyPulled        // it kept the task waiting, and an idle node has asked for it
	WhySlots         // as many tasks of its job have a worker as may
	WhyBackoff       // its last attempt failed, and the next one is not made yet
	WhyResource      // more units of a counted resource than the node has
	WhyAfter         // a job that it is to follow has not ended
	WhyBusy          // too few of its slots are free for the ranks
	WhyReserved      // its slots are kept for another gang that goes first
	WhyWounded       // it has given the slots that it kept to an older gang
	WhyShare         // it keeps as much for this owner as it may
	WhyUnkept        // it keeps no slot for the rank
	WhyGang          // not all ranks of the gang have a place
	WhyDeadline      // no node would be done with it by its job's deadline, as far as is known
	WhySharing       // tasks share its cores, and ranks of a gang want theirs to themselves
	WhyMoved         // it gave the started attempt up for another node, as its owner asked
	WhyBudget        // its job's budget suffices for no further attempt while those that it has run
	WhyHandOver      // it keeps slots for no gang any more: one that waits can ask for later ones
	WhyUnmet         // it does not meet the expression of the job's needs
	WhyAccept        // the job does not meet the expression of what it accepts, whatever the hour
	WhyHour          // nor does it at this hour
	WhyWorth         // others that it was offered at the same time are worth more
	WhyAway          // what runs its tasks, a batch system or another grid, does not answer or takes none
	WhySecret        // none of the nodes that hold a secret of its job is reached
	WhyUntrusted     // a secret of its job is not for it
	whys
)

// Whys is the number after the last reason.
const Whys = int(whys)

var whyTexts = [...]string{"", "needs more CPU than it has", "needs more memory than it has", "label does not match",
	"has no such engine", "cannot execute the program", "", "its queue is full", "is draining", "its disk is nearly full",
	"files could not be fetched", "did not answer in time", "is not connected", "was lost", "no longer the live attempt",
	"nobody known fits", "the policy waits", "could not prepare the task",
	"has kept it waiting far longer than expected", "waits for a majority of the job's register",
	"those who fit have yet to deliver what they were given", "is avoided for a while",
	"has no more room for the files of others", "has had it for far longer than such a task takes elsewhere",
	"is of a version that would show the job to any member",
	"takes no tasks of others: it cannot isolate them, or lacks the role run",
	"kept it waiting while another node was idle",
	"waits until fewer tasks of its job run (max_running)", "failed and is run again later",
	"has fewer units of a resource than it needs", "waits for another job",
	"has too few free slots", "keeps its slots for another gang", "has given its slots to an older gang",
	"keeps as many slots for this owner as it may", "keeps no slot for the rank",
	"waits until all ranks of its gang have a place",
	"is not expected to end by its job's deadline",
	"has its tasks share the cores (sharing proportional), which ranks of a gang do not",
	"gave it up, to go on at another node",
	"waits until it is known what its job's budget leaves",
	"keeps slots for no other gang any more", "does not meet needs.where", "does not accept such jobs",
	"does not accept such jobs at this hour", "takes others that are worth more for what it has free",
	"cannot reach what runs its tasks, or that takes none now",
	"reaches no node that holds a secret of its job", "may not get a secret of its job"}

// Never reports whether the same offer to the same node would always be refused.
func (w Why) Never() bool {
	switch w {
	case WhyAccess, WhyResource, WhySharing, WhyUnmet, WhyAccept, WhyUntrusted:
		return true
	}
	return w > WhyNone && w < WhyNever
}

// NeverStarted reports whether a worker that accepted an attempt states with this reason that it never started it.
func (w Why) NeverStarted() bool {
	switch w {
	case WhyDrain, WhyOverdue, WhyStale, WhyMajority, WhyPulled, WhyGang, WhySecret:
		return true
	}
	return false
}

// OfOption reports whether the reason may be one about the option as which an attempt was to run, and not about all.
func (w Why) OfOption() bool {
	switch w {
	case WhyCPU, WhyMemory, WhyLabel, WhyResource, WhyAccept:
		return true
	}
	return false
}

// String returns the reason as the rest of a sentence about the node.
func (w Why) String() string {
	if int(w) < len(whyTexts) {
		return whyTexts[w]
	}
	return "unknown reason"
}

// Refusal is a reason with its subject.
type Refusal struct {
	Why    Why
	Detail string // the label, the error; may be empty
}

// Trace is an entry of a task's history, which `skep job explain` shows.
type Trace struct {
	At      Time
	What    TraceKind
	Node    NodeID        // zero if no other node is meant
	Refusal Refusal       // for TraceRefused, TraceWait, TraceLost; Detail also for a TraceSearch that found Node
	ECT     time.Duration // expected completion on which the choice rested, of TraceScheduled an iteration; 0 if none
	News    time.Duration // age of the state on which the choice rested
	Asked   int32         // nodes polled for the choice
}

// TraceKind is what happened to a task.
type TraceKind uint8

// What happens to a task at its origin.
const (
	TraceChosen TraceKind = iota + 1
	TraceAccepted
	TraceRefused
	TraceWait
	TraceSearch
	TraceLost
	TraceEnded
	TraceCopied  // a backup attempt was given to Node; Detail says why, if it is by the job's reliability
	TraceDemoted // Node stopped it over its class's bound: it continues in the class Detail
	// TraceScheduled: workers were chosen for a gang by a search; Detail says what was searched and found.
	TraceScheduled
	// TraceContract: iterations of a gang take longer than was predicted; Detail says by what, and what follows.
	TraceContract
	// TraceMoved: a task that has started is to go on at another node, or not; Detail says why.
	TraceMoved
	// TraceReliability: what is done about the loss of a task that Node has taken; Detail says why.
	TraceReliability
)

var traceNames = [...]string{"", "chosen", "accepted", "refused", "waits", "search", "lost", "ended", "copied",
	"demoted", "scheduled", "contract", "moved", "reliability"}

// String returns the name used in JSON.
func (k TraceKind) String() string {
	if int(k) < len(traceNames) {
		return traceNames[k]
	}
	return "unknown"
}
