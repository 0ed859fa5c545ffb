package grid

import (
	"time"
)

// Cause says how an attempt ended.
type Cause uint8

// Ways in which an attempt ends.
const (
	// the program ended by itself; Exit is its code, or 125 if that is 0 and some of its output exceeded the limits
	Exited         Cause = iota + 1
	Signaled             // a signal ended it; Exit is 128 + its number
	TimedOut             // its time limit; 124
	MemoryExceeded       // its memory bound; 137
	Cancelled            // a caller cancelled it; 130
	CannotExecute        // the node could not execute it; 126
	NotFound             // the node has no such program; 127
	Lost                 // the attempt's node was lost, or lost it; 125
	Unplaceable          // no node can run it; 121
	Failed               // the node failed to prepare or collect it; 125
	Missed               // it had not ended by its job's deadline; 122
	Unaffordable         // its job's budget did not suffice for it; 123

	causes
)

// Causes is the number after the last cause.
const Causes = int(causes)

var causeNames = [...]string{"", "exited", "signaled", "timed_out", "memory_exceeded", "cancelled",
	"cannot_execute", "not_found", "lost", "unplaceable", "failed", "missed", "unaffordable"}

// String returns the name used in JSON and on disk.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "unknown"
}

// Refused reports whether the cause says nothing about the task itself: the node could not execute it,
// and another one may.
func (c Cause) Refused() bool { return c == CannotExecute || c == NotFound || c == Failed }

// Withdrawn reports whether the cause says that nobody wanted the task any more: a caller cancelled it, or its job's
// limits did.
func (c Cause) Withdrawn() bool { return c == Cancelled || c == Missed || c == Unaffordable }

// Exit codes of the command line that are Skep's own.
const (
	ExitUnplaceable   = 121
	ExitMissed        = 122
	ExitUnaffordable  = 123
	ExitTimedOut      = 124
	ExitSkep          = 125
	ExitCannotExecute = 126
	ExitNotFound      = 127
)

// Result is how an attempt ended and its output. It is immutable once built.
type Result struct {
	Cause   Cause
	Exit    int32 // what `skep run` exits with
	Error   string
	Waited  time.Duration // from acceptance to start, at the node that ran it
	Wall    time.Duration // from start to end
	CPU     time.Duration // user + system time
	MaxRSS  Bytes
	Stdout  Output
	Stderr  Output
	Outputs []File
	Next    string // of Lost: it was stopped because it exceeded its class's bound, and belongs to this class

	LastLine string // of a long standard error of an attempt that failed; at most MaxFailureLine bytes

	Option uint8 // of its job, as which the attempt ran, from 1; 0 = it has none

	Proof string // of a signed job: the signatures of the end, of package chain; "" = it has none
}

// Output is what a task printed on one stream. Short output travels inline, long output as a blob.
type Output struct {
	Inline  []byte
	Blob    BlobID
	Size    Bytes // of the part kept
	Dropped Bytes // printed beyond the bound
}

// Succeeded reports whether the program did what it should, though its output may have exceeded the limits: another
// node would not have done better.
func (r *Result) Succeeded() bool {
	return r.Cause == Exited && (r.Exit == 0 || r.Exit == ExitSkep && r.Error != "")
}

// Weight estimates the bytes of a result on the wire, on disk and in memory; 0 for none.
func (r *Result) Weight() int {
	if r == nil {
		return 0
	}
	n := 256 + len(r.Error) + len(r.LastLine) + len(r.Proof) + len(r.Stdout.Inline) + len(r.Stderr.Inline)
	for i := range r.Outputs {
		n += 64 + len(r.Outputs[i].Path)
	}
	return n
}

// Blobs appends the blobs of r to fetch from the node that ran it.
func (r *Result) Blobs(dst []File) []File {
	for _, o := range [...]*Output{&r.Stdout, &r.Stderr} {
		if !o.Blob.IsZero() {
			dst = append(dst, File{Blob: o.Blob, Size: o.Size})
		}
	}
	return append(dst, r.Outputs...)
}

// TaskState is the state of a task at its owner.
type TaskState uint8

// A task goes from Pending through Placed to Ended, and back to Pending when an attempt is lost.
const (
	Pending TaskState = iota + 1 // waits for placement
	Offered                      // offered to a node that has not answered
	Placed                       // a node has accepted it
	Ended                        // its result is saved
)

var stateNames = [...]string{"", "pending", "offered", "placed", "ended"}

// String returns the name used in JSON.
func (s TaskState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// CompactResult is a result in compact form for long storage: most results hold only a few numbers, and there are many.
// The zero value is no result.
type CompactResult struct {
	Cause  Cause
	Exit   int32
	Waited time.Duration
	Wall   time.Duration
	CPU    time.Duration
	MaxRSS Bytes
	whole  *Result // set if the result has more than numbers
}

// Compact returns the compact form of a result; r may be nil.
func (r *Result) Compact() CompactResult {
	if r == nil {
		return CompactResult{}
	}
	b := CompactResult{Cause: r.Cause, Exit: r.Exit, Waited: r.Waited, Wall: r.Wall, CPU: r.CPU, MaxRSS: r.MaxRSS}
	more := r.Error != "" || r.LastLine != "" || r.Next != "" || len(r.Outputs) > 0 || r.Option != 0 ||
		r.Proof != ""
	if r.Cause == 0 || more || !r.Stdout.empty() || !r.Stderr.empty() {
		b.whole = r
	}
	return b
}

// None reports whether there is no result.
func (b *CompactResult) None() bool { return b.Cause == 0 && b.whole == nil }

// Whole returns the full result if it has more than the numbers of b, else nil.
func (b *CompactResult) Whole() *Result { return b.whole }

// Result returns the full result; nil if there is none.
func (b *CompactResult) Result() *Result {
	if b.whole != nil || b.None() {
		return b.whole
	}
	return &Result{Cause: b.Cause, Exit: b.Exit, Waited: b.Waited, Wall: b.Wall, CPU: b.CPU, MaxRSS: b.MaxRSS}
}

func (o *Output) empty() bool {
	return len(o.Inline) == 0 && o.Blob.IsZero() && o.Size == 0 && o.Dropped == 0
}
