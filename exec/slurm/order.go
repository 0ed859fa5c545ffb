package slurm

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"skep/exec/process"
)

// Order says what a step is to run. It is on disk before there is a batch job for it.
type Order struct {
	Key   string // names the attempt: of printable letters, without |
	Dir   string // of the attempt, as Engine.Prepare has made it
	Argv  []string
	Env   []string // NAME=VALUE
	Stdin bool     // it reads the file stdinFile in Dir

	CPUs      int
	Memory    int64         // bytes; 0 = what the partition gives
	Timeout   time.Duration // from when it runs; 0 = none
	Grace     time.Duration // between SIGTERM and SIGKILL
	MaxOutput int64         // bytes of each stream

	Keep []string // for the caller, who has it back after a restart

	// MayStart reports whether the attempt's start lease is valid: it may run out while other orders are handed over.
	// Nil = it has none.
	MayStart func() bool `json:"-"`

	Submission int    // which of the attempt's batch jobs this is for, from 1
	Step       string // the program of the step
}

// The files of an order, in the attempt's folder. What the task reads, writes and prints is where package process has
// it.
const (
	orderFile = "order.json"
	endFile   = "end.json"
	logFile   = "slurm.log" // what the batch job itself prints
)

func claimFile(dir string, k int) string { return filepath.Join(dir, "claim."+strconv.Itoa(k)) }

// end is how a step ended, as it wrote it down.
type end struct {
	Key     string // of the order; "" in ends of older versions
	Cause   process.Cause
	Exit    int
	Signal  int
	Error   string
	Stopped bool // it was sent SIGTERM from outside
	Job     string
	Host    string

	Started time.Time
	Wall    time.Duration
	CPU     time.Duration
	MaxRSS  int64

	Kept, Dropped [2]int64
	NotKept       string
}

// result is the end as the node has it. A task without a box can write what it likes into its folder: what would not be
// possible is made harmless.
func (x *end) result(maxOutput int64) process.Result {
	r := process.Result{Cause: x.Cause, Exit: x.Exit & 0xff, Signal: min(max(x.Signal, 0), 127), Error: x.Error,
		Started: x.Started, Wall: max(x.Wall, 0), CPU: max(x.CPU, 0), MaxRSS: max(x.MaxRSS, 0),
		StdoutDropped: max(x.Dropped[0], 0), StderrDropped: max(x.Dropped[1], 0)}
	for i, n := range x.Kept {
		r.Kept[i] = min(max(n, 0), maxOutput)
	}
	if x.NotKept != "" {
		r.NotKept = errors.New(x.NotKept)
	}
	return r
}
