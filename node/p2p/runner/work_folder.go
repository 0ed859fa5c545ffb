package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"skep/exec/external"
	"skep/exec/intact"
	"skep/exec/process"
	"skep/exec/terminal"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/blob"
	"skep/node/p2p/ranks"
)

// prepare makes the folder of an attempt, puts its inputs there, those of the job and those that other jobs have left,
// and returns what to execute.
func (r *Runner) prepare(a *attempt, spec *grid.JobSpec, left []grid.File) (*expanded, error) {
	ctx, cancel := r.inputsContext(a)
	defer cancel()
	dir, id := a.dir, a.id
	if err := r.makeFolder(a, spec); err != nil {
		return nil, err
	}
	work := process.Work(dir)
	if err := a.files.Made(work); err != nil {
		return nil, err
	}
	inputs := spec.WorkFilesOf(id.Task.Index)
	left, from := grid.SplitInputs(left)
	if len(left) > 0 {
		inputs = slices.Concat(inputs, left)
	}
	line, array, hasLine := "", spec.Array, false
	for i := range inputs {
		in := &inputs[i]
		if array != nil && in.Path == array.LinesPath() { // of it the task has its line only
			var err error
			if line, err = r.line(ctx, in, id.Task.Job.Origin, array.Line(id.Task.Index)); err != nil {
				return nil, fmt.Errorf("lines: %w", err)
			}
			hasLine = true
			continue
		}
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
		a.files.Placed(dst, int64(in.Size))
	}
	if array != nil && array.LinesPath() != "" && !hasLine {
		return nil, fmt.Errorf("lines: there is no input %q", array.LinesPath())
	}
	if len(inputs) > 0 {
		if err := r.chownInputs(dir); err != nil {
			return nil, err
		}
	}
	begins, err := r.placeCheckpoint(ctx, a, from)
	if err != nil {
		return nil, err
	}
	vars := append(variables(r.cfg.Self, spec, id, array.Values(id.Task.Index, line)),
		grid.Var{Name: "SKEP_NODE_NAME", Value: r.cfg.Name})
	run, err := expand(spec, vars, inputs)
	if err == nil {
		run.env = append(run.env, begins...)
	}
	return run, err
}

// makeFolder makes the folder of an attempt, for the user that it runs as.
func (r *Runner) makeFolder(a *attempt, spec *grid.JobSpec) error {
	if r.away != nil {
		return r.makeFolderAway(a.dir, spec)
	}
	as, err := r.cfg.Boxes.account(spec, os.Geteuid() == 0)
	if err == nil && a.shared != nil && as.UID == 0 {
		as = a.shared.As
	}
	if err != nil {
		return err
	}
	return r.processes.Prepare(a.dir, as)
}

// joinRanks gives a rank of a gang with a network of its own what it shares with the others.
func (r *Runner) joinRanks(a *attempt, s grid.Start) (err error) {
	if s.Spec.Network != grid.NetworkGang || a.shared != nil {
		return nil
	}
	memory := grid.Bytes(0) // of /dev/shm; what is in it counts for those who wrote it
	for _, p := range s.Places {
		if p.Node == r.cfg.Self {
			memory += grid.Bytes(p.Ranks) * cmp.Or(s.Spec.Needs.Memory, r.cfg.Capacity.Memory)
		}
	}
	of := ranks.Network{Places: s.Places, Ports: s.Spec.Gang.Ports.List()}
	a.shared, err = r.ranks.Join(s.Attempt, of, int64(min(memory, r.cfg.Capacity.Memory)), func(rank uint32) bool {
		id := s.Attempt
		id.Task.Index = rank
		return r.lookup(id) == nil
	})
	return err
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
func (r *Runner) spec(dir string, run *expanded, spec *grid.JobSpec, grant *units.Grant) process.Spec {
	var folders grid.Folders
	if spec.Folders != nil {
		folders = *spec.Folders
	}
	var tty *terminal.Size
	if t := spec.Terminal; t.On {
		tty = &terminal.Size{Rows: t.Rows, Cols: t.Cols}
	}
	return process.Spec{
		Argv: run.argv, Dir: dir, Terminal: tty,
		Folders: process.Folders{Workdir: folders.Work, Home: folders.Home, OwnProgram: run.own},
		Devices: grant.Devices(), CPUs: grant.CPUs,
		Env:    slices.Concat(units.ThreadEnv(spec.Needs.CPU), run.env, grant.Env(r.processes.Boxed())),
		Memory: int64(cmp.Or(spec.Needs.Memory, r.cfg.Capacity.Memory)), Timeout: spec.Timeout,
		MaxOutput: int64(r.cfg.MaxOutput),
		MaxFile:   r.cfg.maxFile(), MaxProcs: r.cfg.Boxes.Processes, CPU: spec.Needs.CPU,
		Part:  process.Part{Share: r.cfg.cpuShare(grid.ClassOf(spec))},
		Reach: process.Reach{Network: spec.Network}, Strict: spec.Isolation() == grid.IsolationStrict,
	}
}

// chownInputs gives the inputs in a work folder to the attempt's user, as the folder itself is already.
func (r *Runner) chownInputs(dir string) error {
	to := r.processes.Owner(dir)
	if to.UID == 0 {
		return nil
	}
	return filepath.WalkDir(process.Work(dir), func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, int(to.UID), int(to.GID))
	})
}

// startFailure makes the result of a task that could not be started: 126 or 127 where this machine cannot execute
// the program, a failure of the node otherwise. Where its files were taken away, or the disk fails, the attempt is
// lost, and this node may run the next one; one that is to run at most once has not run, so it is refused.
func startFailure(a *attempt, err error, result func(grid.Cause, int32, error) *grid.Result) *grid.Result {
	if taken := a.files.Missing(); intact.Fault(taken) {
		err = taken // also where that looks as if there were no such program
	}
	var no *process.ExecError
	switch {
	case isFault(err) && a.spec.OnceReason() == "":
		return result(grid.Lost, grid.ExitSkep, err)
	case isFault(err) || !errors.As(err, &no):
		return result(grid.Failed, grid.ExitSkep, err)
	}
	if no.Cause == process.NotFound {
		return result(grid.NotFound, grid.ExitNotFound, err)
	}
	return result(grid.CannotExecute, grid.ExitCannotExecute, err)
}

// isFault reports whether an error of preparing or collecting an attempt is this machine's: it may succeed elsewhere,
// or here later.
func isFault(err error) bool {
	return intact.Fault(err) || errors.Is(err, blob.ErrDisk) || errors.Is(err, blob.ErrFull) ||
		errors.Is(err, external.ErrUnread)
}
