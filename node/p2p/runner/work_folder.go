package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/blob"
)

// variables returns the environment variables that describe a task to itself.
func variables(self grid.NodeID, spec *grid.JobSpec, id grid.AttemptID) []string {
	return []string{
		"SKEP_JOB=" + id.Task.Job.String(),
		"SKEP_TASK=" + id.Task.String(),
		"SKEP_INDEX=" + strconv.FormatUint(uint64(id.Task.Index), 10),
		"SKEP_COUNT=" + strconv.FormatUint(uint64(spec.Count), 10),
		"SKEP_ATTEMPT=" + id.Attempt.String(),
		"SKEP_NODE=" + self.String(),
		"SKEP_CLASS=" + grid.ClassOf(spec),
	}
}

// expand replaces ${SKEP_…} in a word by the variable of that name. Everything else stays, unknown names too, so
// that a shell inside the task gets its own variables.
func expand(word string, vars []string) string {
	if !strings.Contains(word, "${SKEP_") {
		return word
	}
	var b strings.Builder
	for {
		at := strings.Index(word, "${SKEP_")
		if at < 0 {
			b.WriteString(word)
			return b.String()
		}
		b.WriteString(word[:at])
		word = word[at:]
		name, rest, closed := strings.Cut(word[2:], "}")
		value, known := lookup(vars, name)
		if !closed || !known {
			b.WriteString(word[:2])
			word = word[2:]
			continue
		}
		b.WriteString(value)
		word = rest
	}
}

func lookup(vars []string, name string) (string, bool) {
	for _, v := range vars {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value, true
		}
	}
	return "", false
}

// command returns the expanded argv. A program that is among the inputs is named as the file in the work folder.
func command(spec *grid.JobSpec, vars []string) []string {
	argv := make([]string, len(spec.Command))
	for i, w := range spec.Command {
		argv[i] = expand(w, vars)
	}
	for i := range spec.Inputs {
		if in := &spec.Inputs[i]; in.Exec && path.Clean(in.Path) == path.Clean(argv[0]) {
			argv[0] = "./" + path.Clean(in.Path)
			break
		}
	}
	return argv
}

// prepare makes the folder of an attempt, puts its inputs there, and returns what to execute.
func (r *Runner) prepare(a *attempt, spec *grid.JobSpec) ([]string, error) {
	ctx, cancel := r.inputsContext(a)
	defer cancel()
	dir, id := a.dir, a.id
	if err := r.processes.Prepare(dir); err != nil {
		return nil, err
	}
	work := process.Work(dir)
	for i := range spec.Inputs {
		in := &spec.Inputs[i]
		if !grid.Inside(in.Path) {
			return nil, fmt.Errorf("input %q: is not inside the work folder", in.Path)
		}
		dst := filepath.Join(work, filepath.FromSlash(path.Clean(in.Path)))
		if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
			return nil, fmt.Errorf("input %q: %w", in.Path, err)
		}
		if err := r.placeInput(ctx, in, dst, id.Task.Job.Origin); err != nil {
			return nil, fmt.Errorf("input %q: %w", in.Path, err)
		}
	}
	if len(spec.Inputs) > 0 {
		if err := r.chownInputs(dir); err != nil {
			return nil, err
		}
	}
	return command(spec, variables(r.cfg.Self, spec, id)), nil
}

// placeInput puts an input into a work folder. One that was damaged since it was stored is fetched again.
func (r *Runner) placeInput(ctx context.Context, in *grid.File, dst string, origin grid.NodeID) error {
	err := r.cfg.Blobs.Link(ctx, in.Blob, dst, in.Exec)
	if errors.Is(err, blob.ErrNotFound) {
		if err = r.fetcher.get(ctx, origin, in); err == nil {
			err = r.cfg.Blobs.Link(ctx, in.Blob, dst, in.Exec)
		}
	}
	return err
}

// spec returns what the runner is to run and within which bounds.
func (r *Runner) spec(dir string, argv []string, spec *grid.JobSpec, id grid.AttemptID) process.Spec {
	env := make([]string, 0, len(spec.Env)+8)
	for _, v := range spec.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return process.Spec{
		Argv: argv, Env: append(env, variables(r.cfg.Self, spec, id)...), Dir: dir,
		Memory: int64(cmp.Or(spec.Needs.Memory, r.cfg.Capacity.Memory)), Timeout: spec.Timeout,
		MaxOutput: int64(r.cfg.MaxOutput),
		MaxFile:   r.cfg.maxFile(), MaxProcs: r.cfg.Boxes.Processes, CPU: spec.Needs.CPU,
		Share:   r.cfg.cpuShare(grid.ClassOf(spec)),
		Network: spec.Network, Strict: spec.Isolation() == grid.IsolationStrict,
	}
}

// chownInputs gives the inputs in a work folder to the attempt's user, as the folder itself is already.
func (r *Runner) chownInputs(dir string) error {
	id := int(r.processes.Owner(dir))
	if id == 0 {
		return nil
	}
	return filepath.WalkDir(process.Work(dir), func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id, id)
	})
}

// startFailure makes the result of a task that could not be started: 126 or 127 where this machine cannot execute
// the program, a failure of the node otherwise.
func startFailure(err error, result func(grid.Cause, int32, error) *grid.Result) *grid.Result {
	var no *process.ExecError
	if !errors.As(err, &no) {
		return result(grid.Failed, grid.ExitSkep, err)
	}
	if no.Cause == process.NotFound {
		return result(grid.NotFound, grid.ExitNotFound, err)
	}
	return result(grid.CannotExecute, grid.ExitCannotExecute, err)
}
