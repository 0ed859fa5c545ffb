package process

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"skep/exec/sandbox"
	"skep/exec/terminal"
	"skep/grid"
)

// Spec says what to run and within which bounds. Zero values are usable except for Argv and Dir.
type Spec struct {
	// Argv is the command. Argv[0] with a slash is relative to the work folder, without one it is
	// searched for in PATH as the task will see it.
	Argv []string

	// Env holds the variables of the job and its SKEP_* ones, as "name=value". The node's own
	// environment is not inherited beyond the short list in environ.go; a later entry wins.
	Env []string

	// Stdin is what the task reads. The caller closes it when Start has returned. nil: an empty input.
	Stdin *os.File

	Asked

	// Terminal gives the task a terminal of that size in place of Stdin, stdout and stderr; what it prints there counts as
	// stdout. nil: none. Only where Terminals is true.
	Terminal *terminal.Size

	// Dir is the absolute path of the attempt's own folder, made by Runner.Prepare; see there for
	// what is in it. It is used by one attempt only.
	Dir string

	Folders

	// Memory bounds the resident size of the task with all its processes, in bytes. 0: no bound. It
	// is looked at every 200 ms, so a burst between two looks is not seen; the address space is
	// never bounded, since Go and Java reserve far more than they use.
	Memory int64

	// Timeout bounds the time from start to end; time in which the machine sleeps is not counted.
	// 0: no bound.
	Timeout time.Duration

	// Grace is the time between SIGTERM and SIGKILL. Default 5 s: long enough to write a checkpoint
	// of ordinary size, short enough to free the slot. Longer delays cancellation and Close.
	Grace time.Duration

	// MaxOutput bounds each of stdout and stderr on disk, in bytes. What comes after it is dropped
	// and counted while the task goes on. Default 64 MiB.
	MaxOutput int64

	// MaxFile bounds each file that the task writes, in bytes (SIGXFSZ beyond it); stdout and
	// stderr do not count. 0: no bound.
	MaxFile int64

	// MaxOpen bounds the open files of each process of the task, as `ulimit -n` does. It cannot be
	// raised above the node's own hard limit and 65,536. 0: 1024, which the task itself may raise up to that.
	MaxOpen uint64

	// MaxProcs bounds the processes and threads of the task. It is lowered to its share of what the node may have of them,
	// see Runner.Processes. 0: no bound.
	MaxProcs int64

	// CPU is what the task was admitted with: tasks of less than a core get as much less of what processes the node may
	// have. 0: a core.
	CPU grid.MilliCPU

	// Devices are those of Options.Sandbox.Devices that the task gets, if it is in a box.
	Devices []string

	// CPUs are the processors that the task runs on, on Linux; none: all.
	CPUs []int

	Reach

	// Strict asks for bounds that the kernel keeps, whatever that costs.
	Strict bool

	Part
}

// Part is how much of the processors a task gets.
type Part struct {
	// Share, between 0 and 1, is the part of the time in which the task may run: its group is
	// stopped for the rest of every 40 ms, so that a task of one thread gets that share of a core.
	// 0 or 1: all of it. For desktops, and for machines of different speed on one machine.
	Share float64

	// Weight, up to 1, is what the task counts for beside others that have one, for each core that it was admitted with:
	// with twice the weight it gets twice as much of what both want. By a control group where there is one for
	// each task (cgroup v2), else by niceness, in steps of a quarter down to 1/69; then what a task runs in a session of
	// its own counts in full. 0: it counts as any process.
	Weight float64
}

// Folders are where a task starts and is at home.
type Folders struct {
	// Workdir and Home are folders of the machine that the task sees, in which it starts and which is its $HOME. Default:
	// its own work folder.
	Workdir, Home string

	// OwnProgram says that a relative Argv[0] is in the work folder also where Workdir is another.
	OwnProgram bool
}

// Reach is what a task reaches beside its own files and processes.
type Reach struct {
	// Network is what the task reaches of the network. Without boxes that is always the host's.
	Network grid.Network

	// Pod is what the task shares with others, in place of Network. Its bounds are kept by the kernel, as with Strict.
	// nil: nothing.
	Pod *sandbox.Pod

	// Secrets are files in memory that the task finds in the folder which SKEP_SECRETS names. Only in a box. None: it has
	// no such folder.
	Secrets []sandbox.Secret

	// Hosts is the content of its /etc/hosts, if it is in a box. nil: the machine's.
	Hosts []byte
}

const (
	defaultGrace     = 5 * time.Second
	defaultMaxOutput = 64 << 20
)

// check fills in the defaults and reports everything that is wrong at once.
func (s *Spec) check() error {
	var bad []string
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	say(len(s.Argv) == 0 || s.Argv[0] == "", "the command is empty")
	for _, a := range s.Argv {
		say(strings.IndexByte(a, 0) >= 0, "argument %q has a zero byte", a)
	}
	for _, e := range s.Env {
		say(strings.IndexByte(e, '=') < 1 || strings.IndexByte(e, 0) >= 0, "variable %q is not name=value", e)
	}
	say(!filepath.IsAbs(s.Dir), "folder %q is not an absolute path", s.Dir)
	for _, at := range [...]string{s.Workdir, s.Home} {
		say(at != "" && !filepath.IsAbs(at), "folder %q is not an absolute path", at)
	}
	say(s.Network == grid.NetworkGang && s.Pod == nil, "network gang without what its ranks share")
	say(s.Memory < 0, "memory %d is negative", s.Memory)
	say(s.Timeout < 0, "timeout %v is negative", s.Timeout)
	say(s.Grace < 0, "grace %v is negative", s.Grace)
	say(s.MaxOutput < 0, "output bound %d is negative", s.MaxOutput)
	say(s.MaxProcs < 0, "bound of processes %d is negative", s.MaxProcs)
	say(s.MaxFile < 0, "file bound %d is negative", s.MaxFile)
	say(math.IsNaN(s.Share) || s.Share < 0 || s.Share > 1, "share %v is not between 0 and 1", s.Share)
	say(math.IsNaN(s.Weight) || s.Weight < 0 || s.Weight > 1, "weight %v is not between 0 and 1", s.Weight)
	if bad != nil {
		return fmt.Errorf("process: %s", strings.Join(bad, "; "))
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	if s.MaxOutput == 0 {
		s.MaxOutput = defaultMaxOutput
	}
	if s.Share == 1 {
		s.Share = 0
	}
	return nil
}

// Asked is what a task may say while it runs.
type Asked struct {
	// Progress is called with what the task says of its progress, at most once in grid.ProgressEvery, one call at a time
	// and none after Process.Wait has returned. nil: the task is not asked.
	Progress func(grid.Progress)

	// Closed is called with the checkpoints that the task says are closed, ascending, one call at a time and none after
	// Process.Wait has returned. Only with Progress; may be nil.
	Closed func(steps []uint64)

	// NotSuspended is called with the reason why Process.Suspend did not stop the task. May be nil.
	NotSuspended func(error)
}
