package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/exec/checkpoint"
	"skep/exec/outputs"
	"skep/exec/process"
	"skep/grid"
)

// takes are the checkpoints of an attempt that are to be taken, or were. Guarded by Runner.mu.
type takes struct {
	next  *grid.Take // to be done, of all that were asked for since the goroutine that does them took one; nil = none
	last  grid.Take  // of all that were asked for
	busy  bool       // there is one
	taken map[uint64][]grid.File
	noted time.Time // when the task was told last why one is not kept
}

// wants reports whether a checkpoint is still to be kept.
func (c *takes) wants(k uint64) bool { return k > c.last.Known || slices.Contains(c.last.Keep, k) }

// checkpointsClosed takes the checkpoints that a task says are closed into the node's keeping, and tells the node.
func (r *Runner) checkpointsClosed(a *attempt, steps []uint64) {
	there, err := checkpoint.Close(a.dir, filepath.Base(process.Work(a.dir)), steps)
	if err != nil {
		r.noteNotKept(a, err.Error())
	}
	if len(there) > 0 {
		r.tellCheckpoint(a, &grid.Checkpoint{Closed: there})
	}
}

// noteEvery is the shortest time between two lines in a task's output about what is not kept.
const noteEvery = time.Minute

// noteNotKept tells the task, on its stderr, why a checkpoint of it is not kept.
func (r *Runner) noteNotKept(a *attempt, why string) {
	r.mu.Lock()
	p, now := a.process, time.Now()
	due := p != nil && now.Sub(a.checkpoints.noted) >= noteEvery
	if due {
		a.checkpoints.noted = now
	}
	r.mu.Unlock()
	r.cfg.Log.Debug("checkpoint not kept", "attempt", a.id, "why", why)
	if due {
		p.Note("skep: not kept: " + cutText(why))
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
	c.last = x
	for k, files := range c.taken {
		if !c.wants(k) {
			r.pins.remove(files)
			delete(c.taken, k)
		}
	}
	if c.next != nil && x.Step == 0 {
		x.Step = c.next.Step // of several steps the node awaits the last one alone
	}
	if c.next = &x; !c.busy {
		c.busy = true
		r.wait.Go(func() { r.takeAll(a) })
	}
}

// takeAll does what is to be done of an attempt, until nothing is left.
func (r *Runner) takeAll(a *attempt) {
	for {
		r.mu.Lock()
		c := &a.checkpoints
		if c.next == nil || a.dropped || r.closed {
			c.busy = false
			r.mu.Unlock()
			return
		}
		x := *c.next
		c.next = nil
		wanted := x.Step != 0 && c.wants(x.Step)
		r.mu.Unlock()
		checkpoint.Keep(a.dir, x.Keep, x.Known)
		if wanted {
			r.takeOne(a, x.Step)
		}
	}
}

// takeOne stores the files of a closed checkpoint, and tells the node. One that was dropped meanwhile is not pinned.
func (r *Runner) takeOne(a *attempt, step uint64) {
	told := &grid.Checkpoint{Step: step}
	files, err := r.storeCheckpoint(a.dir, step)
	r.mu.Lock()
	wanted := !a.dropped && a.checkpoints.wants(step)
	if err != nil || !wanted {
		r.pins.remove(files)
	} else {
		if a.checkpoints.taken == nil {
			a.checkpoints.taken = make(map[uint64][]grid.File)
		}
		r.pins.remove(a.checkpoints.taken[step]) // if it is asked for once more
		a.checkpoints.taken[step] = files
		told.Files = files
	}
	r.mu.Unlock()
	if err != nil {
		told.Refusal = grid.Refusal{Why: grid.WhyFailed, Detail: cutText(err.Error())}
		r.noteNotKept(a, fmt.Sprintf("checkpoint %d: %v", step, err))
	}
	if wanted {
		r.tellCheckpoint(a, told)
	}
}

// storeCheckpoint stores the files of a closed checkpoint as blobs. Those returned are pinned, also with an error. What
// no owner would keep is not stored at all.
func (r *Runner) storeCheckpoint(dir string, step uint64) (files []grid.File, err error) {
	root, err := checkpoint.Open(dir, step)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := outputs.Match(root, []string{"**"})
	if err == nil {
		err = checkpoint.Fits(root, names, checkpoint.Bounds{Files: grid.MaxCheckpointFiles, Path: grid.MaxCheckpointPath,
			Size: int64(r.cfg.MaxCheckpoint)})
	}
	if err != nil {
		return nil, err
	}
	left := r.cfg.MaxCheckpoint
	for _, name := range names {
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

// placeCheckpoint puts the files of the checkpoint that an attempt begins from into its folder of temporary files,
// where it may only read them, and returns the variables that say so.
func (r *Runner) placeCheckpoint(ctx context.Context, a *attempt, files []grid.File) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	at, seen := r.processes.Temp(a.dir)
	step, err := stepOf(files)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	for i := range files {
		f := &files[i]
		dst := filepath.Join(at, filepath.FromSlash(path.Clean(f.Path)))
		if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
		if err := r.placeInput(ctx, f, dst, a.id.Task.Job.Origin); err != nil {
			return nil, fmt.Errorf("checkpoint: %q: %w", f.Path, err)
		}
		a.files.Placed(dst, int64(f.Size))
	}
	if err := readOnly(filepath.Join(at, grid.CheckpointFolder)); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return []string{grid.CheckpointVariable + "=" + filepath.Join(seen, grid.CheckpointFolder, step),
		grid.CheckpointStepVariable + "=" + step}, nil
}

// stepOf returns the step of the checkpoint whose files these are, as their paths say; all are of one.
func stepOf(files []grid.File) (step string, err error) {
	step, _, _ = strings.Cut(strings.TrimPrefix(path.Clean(files[0].Path), grid.CheckpointFolder+"/"), "/")
	k, err := strconv.ParseUint(step, 10, 64)
	folder := path.Join(grid.CheckpointFolder, step) + "/"
	for i := range files {
		f := files[i].Path
		if err != nil || k == 0 || !grid.Inside(f) || !strings.HasPrefix(path.Clean(f), folder) {
			return "", fmt.Errorf("%.64q: want a path in %s/NUMBER, that of the others", f, grid.CheckpointFolder)
		}
	}
	return step, nil
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
