package child

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skep/exec/process"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// orderFile is an order, in the attempt's folder.
const orderFile = "order.json"

// Order says which job of the child is for an attempt. It is on disk before the child hears of it.
type Order struct {
	Key       string // names the attempt
	Dir       string // of the attempt, as Engine.Prepare has made it
	ID        string // of the job, whole
	Spec      v1.Spec
	MaxOutput int64    // bytes of each of stdout and stderr
	Keep      []string // for the caller, who has it back after a restart

	Submitted bool // the child has answered that it has the job
	Withdrawn bool // its ID is, or is about to be, that of a job that nobody can run, unless the submission was first
	Homeless  int  // jobs before it for the same attempt that no node of the child could run at that moment
}

// mostHomeless bounds how often a task is handed over that no node of the child can run, though one is large enough:
// its nodes may just have been started.
const mostHomeless = 5

func (o *Order) check(dir string) error {
	switch {
	case o.Dir != dir:
		return fmt.Errorf("it is of the folder %.300q", o.Dir)
	case o.Key == "" || o.ID == "":
		return errors.New("it is not whole")
	}
	return nil
}

// Work is what a task is to do.
type Work struct {
	Key       string
	Dir       string
	Argv      []string
	Env       []string // NAME=VALUE
	Outputs   []string // patterns
	Inputs    []grid.File
	Job       *grid.JobSpec
	MaxOutput int64

	// MayStart reports whether the attempt's start lease is valid: it may run out while inputs are uploaded. Nil = it has
	// none.
	MayStart func() bool
}

// ownVariables describe the node that runs a task: the child's nodes set these.
var ownVariables = []string{"SKEP_NODE", "SKEP_NODE_NAME", "SKEP_CPUS", "SKEP_WORK"}

// spec is the job of the child for a task.
func (e *Engine) spec(w *Work) (v1.Spec, error) {
	job := v1.SpecOf(w.Job)
	s := v1.Spec{Name: job.Name, Class: grid.ClassOf(w.Job), Command: w.Argv, Count: 1, Outputs: w.Outputs,
		Inputs: v1.FilesOf(w.Inputs), Env: map[string]string{}, Timeout: job.Timeout, Retries: job.Retries,
		Idempotent: job.Idempotent, Network: job.Network, Access: job.Access,
		Rules: v1.Rules{Priority: job.Priority, Rank: job.Rank}}
	s.Outer = v1.Outer{Outer: append(slices.Clone(w.Job.Outer), e.o.Parent)}
	s.Needs = v1.Needs{Cores: job.Needs.Cores, Memory: job.Needs.Memory, Labels: map[string][]string{},
		Where: job.Needs.Where}
	s.Wait = job.Wait && s.Needs.Where == "" // other nodes of the parent may meet it
	for _, key := range [...]string{"os", "arch"} {
		s.Needs.Labels[key] = []string{e.o.Labels[key]}
	}
	// also what this node says of itself: whoever sent the task relied on that
	s.Isolation = max(w.Job.Isolation(), e.Grid().Isolation).String()
	for _, v := range w.Env {
		name, value, _ := strings.Cut(v, "=")
		if name == grid.CheckpointVariable {
			return s, refusal("the task goes on from a checkpoint, whose files do not pass to another grid")
		}
		if !slices.Contains(ownVariables, name) {
			s.Env[name] = value
		}
	}
	for _, text := range slices.Concat(w.Argv, w.Env, w.Outputs) {
		if !utf8.ValidString(text) {
			return s, refusal("%.40q: is no text, and cannot travel there", text)
		}
	}
	return s, nil
}

// refusal is the error of what the child does not run.
func refusal(format string, args ...any) error {
	return &process.ExecError{Cause: process.CannotExecute, Path: "child grid", Err: fmt.Errorf(format, args...)}
}
