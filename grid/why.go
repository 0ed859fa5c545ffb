package grid

import "time"

// Why is the reason of a refusal or of a wait.
type Why uint8

// Reasons. Those up to WhyNever, and WhyAccess, hold as long as the node is what it is; the others may pass.
const (
	WhyNone     Why = iota
	WhyCPU          // more cores than the node has
	WhyMemory       // more memory than the node has
	WhyLabel        // a label is missing or has another value
	WhyEngine       // no such engine
	WhyProgram      // the program cannot be executed there
	WhyNever        // separates "never" from "not now"; not a reason itself
	WhyQueue        // its queue is full
	WhyDrain        // it takes nothing new
	WhyDisk         // its disk is nearly full
	WhyFetch        // the program, an input or the output could not be fetched
	WhySilent       // it did not answer in time
	WhyGone         // no connection to it
	WhyLost         // it accepted and was lost
	WhyStale        // the attempt is not the live one
	WhyNobody       // nobody known fits and no search found anybody
	WhyPolicy       // the policy waits
	WhyFailed       // it failed to prepare the task
	WhyOverdue      // it has kept the task waiting far longer than it said
	WhyMajority     // no majority of the job's register answers
	WhyUnproven     // those who fit have yet to deliver what they were given
	WhyAvoided      // tasks of that class fail there, and elsewhere they do not
	WhyRoom         // it has no room left for the files of others
	WhyStuck        // it has had the attempt for far longer than others take
	WhyAccess       // it would show a job under access: owner to any member
	WhyPrivate      // it takes no tasks of others: it cannot isolate them
)

var whyTexts = [...]string{"", "needs more CPU than it has", "needs more memory than it has", "label does not match",
	"has no such engine", "cannot execute the program", "", "its queue is full", "is draining", "its disk is nearly full",
	"files could not be fetched", "did not answer in time", "is not connected", "was lost", "no longer the live attempt",
	"nobody known fits", "the policy waits", "could not prepare the task",
	"has kept it waiting far longer than expected", "waits for a majority of the job's register",
	"those who fit have yet to deliver what they were given", "is avoided for a while",
	"has no more room for the files of others", "has had it for far longer than such a task takes elsewhere",
	"is of a version that would show the job to any member", "takes no tasks of others, since it cannot isolate them"}

// Never reports whether the same offer to the same node would always be refused.
func (w Why) Never() bool { return w > WhyNone && w < WhyNever || w == WhyAccess }

// String returns the reason as the rest of a sentence about the node.
func (w Why) String() string {
	if int(w) < len(whyTexts) {
		return whyTexts[w]
	}
	return "unknown reason"
}

// Refusal is a reason with what it was about.
type Refusal struct {
	Why    Why
	Detail string // the label, the error; may be empty
}

// Step of a task's way that `skep job explain` tells.
type Trace struct {
	At      Time
	What    TraceKind
	Node    NodeID        // zero where no other node is meant
	Refusal Refusal       // for TraceRefused, TraceWait, TraceLost; Detail also for a TraceSearch that found Node
	ECT     time.Duration // expected completion that the choice rested on; 0 where none
	News    time.Duration // age of the news it rested on
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
	TraceCopied  // a second copy was given to Node
	TraceDemoted // Node stopped it, since it runs longer than its class: it goes on as one of the class Detail
)

var traceNames = [...]string{"", "chosen", "accepted", "refused", "waits", "search", "lost", "ended", "copied", "demoted"}

// String returns the name used in JSON.
func (k TraceKind) String() string {
	if int(k) < len(traceNames) {
		return traceNames[k]
	}
	return "unknown"
}
