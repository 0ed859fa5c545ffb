package engines

import (
	"context"
	"fmt"
	"io"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/exec/terminal"
	"skep/grid"
)

// Engine runs tasks elsewhere than on this machine, where they go on while the node does not. It is safe for concurrent
// use; Former comes before Adopt and Hand.
type Engine interface {
	// Where is what tasks run in, for people.
	Where() string

	// Lacks names what a job wants that tasks there do not have; "" = nothing.
	Lacks(spec *grid.JobSpec) string

	// Folder is the folder of all attempts; Prepare makes that of one, in it.
	Folder() string
	Prepare(dir string) error

	// Former finds what an earlier run has left, and ends that of which wanted does not report that an attempt goes on
	// with it. With an error the node must not start.
	Former(wanted func(key string) bool) error

	// Adopt takes over the task of an attempt that runs from before the node was started; nil: it has not run.
	Adopt(key string, said func(external.Saying)) (Task, error)

	// Abandon ends what runs of an attempt that was not taken over.
	Abandon(key string)

	// Hand has an attempt run there. With external.ErrBusy it has not run and may be tried again; with
	// *process.ExecError it does not run there.
	Hand(x *Attempt, said func(external.Saying)) (Task, error)

	// Used is the processor time of all tasks that have ended.
	Used() time.Duration

	// Close leaves to itself what runs there.
	Close()
}

// Process is a task that runs: of this machine, or one that an engine has.
type Process interface {
	Wait() process.Result
	Cancel()
	Suspend()
	Resume()
	Full(why string)
	Note(line string)
	Tail(ctx context.Context, s process.Stream, offset int64) (io.ReadCloser, error)
	Type(b []byte) error
	Resize(s terminal.Size) error
}

// Task is an attempt that an engine runs.
type Task interface {
	Process
	Dir() string
	Keep() []string
	Never() bool // after Wait: it has not run, and may be started again
}

// Attempt is what an engine is to run. Its folder is prepared, with the inputs in it.
type Attempt struct {
	Key     string // names the attempt
	Dir     string
	Temp    string // its folder for temporary files
	Argv    []string
	Env     []string    // NAME=VALUE
	Outputs []string    // patterns
	Inputs  []grid.File // in the work folder
	Spec    *grid.JobSpec

	MaxOutput int64 // bytes of each of stdout and stderr

	MayStart func() bool // whether its start lease is valid
}

// Refusal returns an error if an engine does not run the tasks of a job; nil = it may.
func Refusal(e Engine, spec *grid.JobSpec) error {
	if why := e.Lacks(spec); why != "" {
		return &process.ExecError{Cause: process.CannotExecute, Path: e.Where(),
			Err: fmt.Errorf("this node runs tasks in %s, without %s", e.Where(), why)}
	}
	return nil
}

// lacks names what a job wants that no such engine has; "" = nothing.
func lacks(spec *grid.JobSpec) string {
	switch {
	case spec.IsGang():
		return "gangs"
	case spec.Terminal.On:
		return "terminals"
	case spec.Stdin == grid.StdinStream, spec.StdinFile() != nil:
		return "a standard input"
	case spec.Needs.Pin:
		return "processors of their own"
	case spec.Needs.Counts != "":
		return "counted resources"
	case spec.Folders != nil:
		return "folders of the machine"
	}
	return ""
}
