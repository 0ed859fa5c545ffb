package process

import (
	"fmt"
	"time"
)

// Cause says why a task ended.
type Cause uint8

const (
	Exited         Cause = iota // by itself, with an exit code
	Signaled                    // by a signal that was not ours
	TimedOut                    // stopped: out of time
	MemoryExceeded              // stopped: its processes held more memory than was reserved
	Cancelled                   // stopped: on request
	CannotExecute               // never ran: the program is there but cannot be executed here
	NotFound                    // never ran: there is no such program here
	DiskExceeded                // stopped: its files filled the disk
	Broken                      // its box was lost: how it would have ended nobody knows
)

var causeNames = [...]string{"exited", "signaled", "timed out", "memory exceeded", "cancelled", "cannot execute",
	"not found", "disk exceeded", "broken"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// Result is how a task ended and what it used.
type Result struct {
	Cause  Cause
	Exit   int    // its own exit code, 0 to 255; of use when Signal is 0
	Signal int    // the signal that ended it, ours included; 0 if none
	Error  string // for people: why it was stopped

	Started time.Time
	Wall    time.Duration
	CPU     time.Duration // user and system time of the task and the children it waited for
	MaxRSS  int64         // the most memory it was seen to hold, in bytes; 0 if too short to be seen

	StdoutDropped, StderrDropped int64 // bytes beyond MaxOutput, or after NotKept

	Kept    [2]int64 // bytes in the file of each Stream
	NotKept error    // why its output is not all in these files, up to MaxOutput: one could not be written; nil = it is
}

// Code is the exit code that a caller of `skep run` gets [2]: the task's own, 128+n for a signal, 124
// for the time limit; a cancelled task counts as terminated (143) and one that held too much memory
// as killed (137) and one that filled the disk as if by one file (153, SIGXFSZ), whatever it made of its last moments.
func (r Result) Code() int {
	switch r.Cause {
	case TimedOut:
		return 124
	case CannotExecute:
		return 126
	case NotFound:
		return 127
	case MemoryExceeded:
		return 128 + 9
	case DiskExceeded:
		return 128 + 25
	case Cancelled:
		return 128 + 15
	case Broken:
		return 125
	}
	if r.Signal != 0 {
		return 128 + r.Signal
	}
	return r.Exit
}

// ExecError is the error of Start when this machine cannot run the program at all. Another machine
// may: a node makes it a refusal.
type ExecError struct {
	Cause Cause // CannotExecute or NotFound
	Path  string
	Err   error
}

func (e *ExecError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Cause, e.Path, e.Err) }
func (e *ExecError) Unwrap() error { return e.Err }
