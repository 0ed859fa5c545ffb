package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"skep/exec/checkpoint"
	"skep/exec/process"
	"skep/grid"
)

// takes are the checkpoints of an attempt that are to be taken, or were. Guarded by Runner.mu.
type takes struct {
	next  []grid.Take // to be done, in order, by one goroutine
	busy  bool        // there is one
	taken map[uint64][]grid.File
}

// checkpointsClosed takes the checkpoints that a task says are closed into the node's keeping, and tells the node.
func (r *Runner) checkpointsClosed(a *attempt, steps []uint64) {
	there, err := checkpoint.Close(a.dir, filepath.Base(process.Work(a.dir)), steps)
	if err != nil {
		r.cfg.Log.Debug("checkpoint not closed", "attempt", a.id, "error", err)
	}
	if len(there) > 0 {
		r.tellCheckpoint(a, &grid.Checkpoint{Closed: there})
	}
}

func (r *Runner) tellCheckpoint(a *attempt, x *grid.Checkpoint) {
	r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt, ev.Checkpoint = grid.EvCheckpoint, a.id, x })
}

// Take stores the files of a closed checkpoint as blobs, which stay pinned, and removes those that are not to be kept.
func (r *Runner) Take(x grid.Take) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.m[x.Attempt]
	if a == nil || a.dropped || r.closed {
		return
	}
	c := &a.checkpoints
	for k, files := range c.taken {
		if !slices.Contains(x.Keep, k) {
			r.pins.remove(files)
			delete(c.taken, k)
		}
	}
	if c.next = append(c.next, x); !c.busy {
		c.busy = true
		r.wait.Go(func() { r.takeAll(a) })
	}
}

// takeAll does what is to be done of an attempt, until nothing is left.
func (r *Runner) takeAll(a *attempt) {
	for {
		r.mu.Lock()
		c := &a.checkpoints
		if len(c.next) == 0 || a.dropped || r.closed {
			c.busy = false
			r.mu.Unlock()
			return
		}
		x := c.next[0]
		c.next = c.next[1:]
		r.mu.Unlock()
		checkpoint.Keep(a.dir, x.Keep)
		if x.Step != 0 {
			r.takeOne(a, x.Step)
		}
	}
}

// takeOne stores the files of a closed checkpoint, and tells the node.
func (r *Runner) takeOne(a *attempt, step uint64) {
	told := &grid.Checkpoint{Step: step}
	files, err := r.storeCheckpoint(a.dir, step)
	r.mu.Lock()
	switch {
	case err != nil || a.dropped:
		r.pins.remove(files)
	default:
		if a.checkpoints.taken == nil {
			a.checkpoints.taken = make(map[uint64][]grid.File)
		}
		a.checkpoints.taken[step] = files
		told.Files = files
	}
	dropped := a.dropped
	r.mu.Unlock()
	if err != nil {
		told.Refusal = grid.Refusal{Why: grid.WhyFailed, Detail: cutText(err.Error())}
	}
	if !dropped {
		r.tellCheckpoint(a, told)
	}
}

// storeCheckpoint stores the files of a closed checkpoint as blobs. Those returned are pinned, also with an error.
func (r *Runner) storeCheckpoint(dir string, step uint64) (files []grid.File, err error) {
	root, err := checkpoint.Open(dir, step)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := matches(root, []string{"**"})
	if err == nil && len(names) > grid.MaxCheckpointFiles {
		err = fmt.Errorf("%d files: want at most %d", len(names), grid.MaxCheckpointFiles)
	}
	if err != nil {
		return nil, err
	}
	left := r.cfg.MaxCollect
	for _, name := range names {
		if len(name) > grid.MaxCheckpointPath {
			return files, fmt.Errorf("a path of %d bytes: want at most %d", len(name), grid.MaxCheckpointPath)
		}
		f, err := r.collectFile(root, name, left)
		if err != nil {
			return files, fmt.Errorf("%.64q: %w", name, err)
		}
		left -= f.Size
		files = append(files, f)
	}
	return files, nil
}

// dropCheckpoints unpins what was taken of an attempt. Runner.mu is held.
func (r *Runner) dropCheckpoints(a *attempt) {
	for _, files := range a.checkpoints.taken {
		r.pins.remove(files)
	}
	a.checkpoints.taken = nil
}

// splitCheckpoint returns those of the inputs in an offer that other jobs have left, and those of the checkpoint that
// the attempt begins from.
func splitCheckpoint(files []grid.File) (left, from []grid.File) {
	for _, f := range files {
		if strings.HasPrefix(f.Path, grid.CheckpointFolder+"/") {
			from = append(from, f)
		} else {
			left = append(left, f)
		}
	}
	return left, from
}

// placeCheckpoint puts the files of the checkpoint that an attempt begins from into its folder of temporary files,
// where it may only read them, and returns the variables that say so.
func (r *Runner) placeCheckpoint(ctx context.Context, dir string, files []grid.File, origin grid.NodeID) ([]string,
	error) {
	if len(files) == 0 {
		return nil, nil
	}
	at, seen := r.processes.Temp(dir)
	step, _, _ := strings.Cut(strings.TrimPrefix(files[0].Path, grid.CheckpointFolder+"/"), "/")
	for i := range files {
		f := &files[i]
		if !grid.Inside(f.Path) {
			return nil, fmt.Errorf("checkpoint: %q is not inside its folder", f.Path)
		}
		dst := filepath.Join(at, filepath.FromSlash(path.Clean(f.Path)))
		if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
		if err := r.placeInput(ctx, f, dst, origin); err != nil {
			return nil, fmt.Errorf("checkpoint: %q: %w", f.Path, err)
		}
	}
	if err := readOnly(filepath.Join(at, grid.CheckpointFolder)); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return []string{grid.CheckpointVariable + "=" + filepath.Join(seen, grid.CheckpointFolder, step),
		grid.CheckpointStepVariable + "=" + step}, nil
}

// readOnly takes the right to write off a folder that no task has seen yet, and all in it.
func readOnly(dir string) error {
	var folders []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, p)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(p, 0o444|info.Mode()&0o100/0o100*0o111)
	})
	for _, p := range slices.Backward(folders) {
		err = errors.Join(err, os.Chmod(p, 0o555))
	}
	return err
}
