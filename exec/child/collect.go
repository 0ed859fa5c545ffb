package child

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// fetch begins to collect the result of a job that is over.
func (t *Task) fetch() {
	done := make(chan error, 1)
	t.fetching = done
	t.e.over.Go(func() {
		select {
		case t.e.fetching <- struct{}{}:
			defer func() { <-t.e.fetching }()
		case <-t.e.ctx.Done():
			return
		}
		done <- t.collect(t.e.ctx)
		t.e.watcher.Soon()
	})
}

// collected reports whether a collection has ended the task.
func (t *Task) collected(now time.Time) (over bool) {
	select {
	case err := <-t.fetching:
		t.fetching = nil
		return err == nil || t.failed(now, err)
	default:
		return false
	}
}

// mostPause is the longest time between two collections of a result of which the first has failed.
const mostPause = time.Minute

// failed notes that the result could not be fetched, and reports whether that has ended the task: because nobody wants
// the result any more, or because the child has not given it for long, as where the node is gone that has the files.
func (t *Task) failed(now time.Time, err error) (over bool) {
	if t.failing.IsZero() {
		t.failing = now
	}
	since := now.Sub(t.failing)
	if t.Asked() != 0 || since >= t.e.o.Patience {
		t.Finish(process.Result{Cause: process.Broken, Error: "the child grid does not give its result: " + err.Error()})
		return true
	}
	t.again = now.Add(min(since, mostPause))
	t.e.o.Log.Warn("the result of a job of the child grid was not fetched, which is tried again", "job", t.order.ID,
		"error", err)
	t.Say(external.Saying{Text: "its result is not fetched yet: " + err.Error()})
	return false
}

// collect brings the output and the files of a job that is over to the attempt's folder, and ends the task.
func (t *Task) collect(ctx context.Context) error {
	page, err := t.e.o.API.Tasks(ctx, t.order.ID, 0, 1)
	if err != nil {
		return err
	}
	if len(page.Tasks) != 1 || page.Tasks[0].Result == nil {
		return errors.New("it is over, and its task has no result")
	}
	r := page.Tasks[0].Result
	if r.Cause == unplaceable && t.order.Homeless < mostHomeless {
		t.order.Homeless++
		if err := t.save(); err != nil {
			return err
		}
		t.FinishNever("no node of the child grid could run it")
		return nil
	}
	result := resultOf(r)
	for i, out := range [...]v1.Output{r.Stdout, r.Stderr} {
		size := max(out.Size, 0)
		kept, err := t.output(ctx, process.Stream(i), size)
		if err != nil {
			return err
		}
		result.Kept[i] = kept
		dropped := max(out.Dropped, 0) + size - kept
		if i == 0 {
			result.StdoutDropped = dropped
		} else {
			result.StderrDropped = dropped
		}
	}
	if t.Asked() == 0 { // else nobody wants them
		if err := t.files(ctx, r.Outputs); err != nil {
			return err
		}
	}
	t.Finish(result)
	return nil
}

// output fetches what the task has printed on one of its streams, up to the bound.
func (t *Task) output(ctx context.Context, s process.Stream, size int64) (kept int64, err error) {
	if size == 0 {
		return 0, nil
	}
	f, err := os.OpenFile(process.Output(t.Dir(), s), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	defer cancel()
	r := &stream{ctx: ctx, api: t.e.o.API, id: t.order.ID, kind: kindOf(s)}
	defer r.Close()
	kept, err = io.Copy(f, io.LimitReader(r, min(size, t.order.MaxOutput)))
	if err == nil && kept < min(size, t.order.MaxOutput) {
		err = fmt.Errorf("%d bytes of its output came, and it has %d", kept, size)
	}
	return kept, errors.Join(err, f.Sync())
}

// files puts the task's files into its work folder, in place of the inputs.
func (t *Task) files(ctx context.Context, files []v1.File) error {
	work := process.Work(t.Dir())
	entries, err := os.ReadDir(work) // the folder itself stays: another one in its place counts as taken away
	for _, d := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(work, d.Name())))
	}
	if err != nil {
		return err
	}
	for i := range files {
		f := &files[i]
		if !grid.Inside(f.Path) {
			return fmt.Errorf("output %.64q: is not inside the work folder", f.Path)
		}
		if err := t.file(ctx, f, filepath.Join(work, filepath.FromSlash(f.Path))); err != nil {
			return fmt.Errorf("output %.64q: %w", f.Path, err)
		}
	}
	return nil
}

func (t *Task) file(ctx context.Context, f *v1.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, transferTime(f.Size))
	defer cancel()
	body, err := t.e.o.API.JobBlob(ctx, t.order.ID, f.Blob, 0)
	if err != nil {
		return err
	}
	defer body.Close()
	mode := os.FileMode(0o600)
	if f.Exec {
		mode = 0o700
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer out.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(body, f.Size+1))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != f.Size || got != f.Blob {
		return fmt.Errorf("%d bytes came with SHA-256 %.16s…: want %d with %.16s…", n, got, f.Size, f.Blob)
	}
	return out.Close()
}

// causes are how a task of the child can end as it would here; any other is told in words.
var causes = map[string]process.Cause{"exited": process.Exited, "signaled": process.Signaled,
	"timed_out": process.TimedOut, "memory_exceeded": process.MemoryExceeded, "cannot_execute": process.CannotExecute,
	"not_found": process.NotFound, "failed": process.CannotExecute, unplaceable: process.CannotExecute}

// unplaceable is the cause of a task that no node of the child could run.
const unplaceable = "unplaceable"

// resultOf is a result of the child as the parent has it. A task that somebody cancelled there is lost.
func resultOf(r *v1.Result) process.Result {
	out := process.Result{Error: r.Error, Wall: seconds(r.Wall), CPU: seconds(r.CPU), MaxRSS: max(r.MaxRSS, 0)}
	known := false
	out.Cause, known = causes[strings.ReplaceAll(r.Cause, " ", "_")]
	switch {
	case !known:
		out.Cause = process.Broken
		out.Error = strings.TrimSuffix("in the child grid: "+r.Cause+": "+r.Error, ": ")
	case out.Cause == process.Signaled:
		out.Signal = min(max(int(r.Exit)-128, 1), 127)
	default:
		out.Exit = int(r.Exit) & 0xff
	}
	return out
}

func seconds(s float64) time.Duration { return max(time.Duration(s*float64(time.Second)), 0) }
