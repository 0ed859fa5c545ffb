package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"skep/exec/sandbox/zygote"
	"skep/exec/terminal"
	"skep/grid"
)

// ErrClosed is the error of Start after Close.
var ErrClosed = errors.New("the sandbox is closed")

// Spec is a box and the command that it is made for.
type Spec struct {
	Folder  string // name of the attempt's folder in Options.Work
	Network grid.Network
	Memory  int64         // bound of all of it in bytes, for the control group and /dev/shm; 0 = none
	Procs   int64         // bound of its processes and threads, lowered to what this node can have; 0 = none
	CPU     grid.MilliCPU // that it was admitted with, by which processes are divided; 0 = a core
	Strict  bool          // the bounds are to be kept by the kernel, whatever that costs
	Devices []string      // of Options.Devices, those that it gets
	Pod     *Pod          // what it shares with other boxes, in place of Network; nil = nothing
	Weight  int           // of its control group, 1 to 10,000; 0 = by the niceness of the command
	Secrets []Secret      // files in its folder zygote.Secrets; at most zygote.MaxSecrets
	Hosts   string        // name of a file in its folder that is its /etc/hosts; empty = the machine's
	Command Command
}

// Command is a program to run in a box.
type Command struct {
	Path  string // as the command sees it
	Dir   string
	Argv  []string
	Env   []string
	Files [3]int // standard streams; still the caller's
	// Terminal gives it a terminal of its box, or without boxes of the machine, in place of Files; its other end is the
	// box's, or the further command's. nil: none.
	Terminal *terminal.Size
	Nice     int

	CPUs   []int // processors to run on; none = all
	Limits []Limit

	UID, GID uint32 // user and group to run as, where the node is root
	Account  bool   // they are an account's of the machine, as which others run too

	program int // descriptor of the program in place of Path; 0 = none
}

// Secret is a file in memory that a task can read, and nobody else in the machine's file systems.
type Secret struct {
	Name  string // without a slash
	Value []byte
}

// Limit is a resource limit, a RLIMIT_….
type Limit struct {
	What     int
	Cur, Max uint64
}

// Seconds is how many further commands a box has at a time.
const Seconds = zygote.MaxOthers

// End is how a command, and all that it left in its box, came to its end.
type End struct {
	Status syscall.WaitStatus
	CPU    time.Duration // of all processes of the box
	MaxRSS int64         // of the largest, in bytes
	Broken bool          // the box was lost: nobody knows how the command ended

	OutOfMemory bool // the kernel killed in its control group for want of memory
}

// StartError says at which step a box or command could not be made.
type StartError struct {
	Stage zygote.Stage
	Err   syscall.Errno
}

func (e *StartError) Error() string { return fmt.Sprintf("%s: %v", e.Stage, e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

// Exec reports whether the program could not be executed, while its box was fine.
func (e *StartError) Exec() bool { return e.Stage == zygote.StageExec }
