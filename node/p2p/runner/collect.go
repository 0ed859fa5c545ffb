package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"skep/exec/intact"
	"skep/exec/outputs"
	"skep/exec/process"
	"skep/grid"
)

// errNotKept reports that the node failed to store outputs of a task. The task is not to blame: it may succeed
// elsewhere.
var errNotKept = errors.New("could not be kept")

// collect makes the result of an attempt whose process has ended: how it ended, what it printed, and the output
// files that the job asks for. The blobs that it names are pinned. An attempt whose outputs this node could not
// store is lost, however it ended, unless it has filled the disk itself: a task must not be reported as successful
// while its output is gone. So is one that failed after its folder was taken away from under it.
func (r *Runner) collect(a *attempt, end *process.Result, waited time.Duration) *grid.Result {
	dir, patterns := a.dir, a.expanded.outputs
	res := &grid.Result{Cause: causeOf(end.Cause), Exit: int32(end.Code()), Error: end.Error, Waited: waited,
		Wall: end.Wall, CPU: end.CPU, MaxRSS: grid.Bytes(end.MaxRSS)}
	var problems []error
	keep := func(s process.Stream, dropped int64) grid.Output {
		o, err := r.collectOutput(process.Output(dir, s), end.Kept[s])
		o.Dropped = grid.Bytes(dropped)
		problems = append(problems, err)
		return o
	}
	res.Stdout = keep(process.Stdout, end.StdoutDropped)
	res.Stderr = keep(process.Stderr, end.StderrDropped)
	if end.NotKept != nil {
		problems = append(problems, fmt.Errorf("what it printed: %w", notKept(end.NotKept)))
	} else if n := end.StdoutDropped + end.StderrDropped; n > 0 {
		problems = append(problems, fmt.Errorf("printed %d bytes beyond the bound of %d a stream, which were dropped", n,
			r.cfg.MaxOutput))
	}
	if !res.Stderr.Blob.IsZero() && res.Exit != 0 {
		res.LastLine = lastLine(dir)
	}
	if len(patterns) > 0 && end.Cause != process.DiskExceeded {
		files, err := r.collectFiles(a, patterns)
		res.Outputs = files
		problems = append(problems, err)
	} else if res.Exit != 0 && (end.Cause == process.Exited || end.Cause == process.Signaled) && r.processes.Boxed() {
		if err := a.files.FolderGone(); isFault(err) { // in a box it cannot have removed that itself
			problems = append(problems, notKept(err))
		}
	}
	err := errors.Join(problems...)
	if errors.Is(err, errNotKept) && end.Cause != process.DiskExceeded {
		r.pins.remove(res.Blobs(nil))
		res.Cause, res.Exit, res.Error = grid.Lost, grid.ExitSkep, ""
		res.Stdout, res.Stderr, res.Outputs = grid.Output{}, grid.Output{}, nil
	}
	if err != nil {
		if res.Error != "" {
			res.Error += "; "
		}
		res.Error += strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if res.Cause == grid.Exited && res.Exit == 0 && res.Error != "" {
		res.Exit = grid.ExitSkep // no success if something requested is missing
	}
	res.Error = cutText(res.Error)
	return res
}

// collectOutput returns what a task printed, so many bytes: inline if it is short, else as a durable blob.
func (r *Runner) collectOutput(file string, size int64) (o grid.Output, err error) {
	if size == 0 { // the file is created with its first byte
		return o, nil
	}
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
		o, err = r.storeOutput(f, size)
	}
	if err != nil {
		err = fmt.Errorf("what it printed: %w", notKept(err))
	}
	return o, err
}

func notKept(err error) error {
	if err == nil || errors.Is(err, errNotKept) {
		return err
	}
	return fmt.Errorf("%w: %w", errNotKept, err)
}

// faultOf marks an error of reading a task's files that is this machine's.
func faultOf(err error) error {
	if isFault(err) {
		return notKept(err)
	}
	return err
}

// storeOutput stores one of its two streams.
func (r *Runner) storeOutput(f *os.File, size int64) (o grid.Output, err error) {
	info, err := f.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("%s has %d bytes where %d were written: it %w", f.Name(), info.Size(), size, intact.ErrTaken)
	}
	if err != nil {
		return o, err
	}
	if size := grid.Bytes(size); size <= grid.MaxInline {
		o.Inline, o.Size = make([]byte, size), size
		_, err = io.ReadFull(f, o.Inline)
		return o, err
	}
	o.Blob, o.Size, err = r.storeBlob(f, r.cfg.MaxOutput)
	return o, err
}

// storeBlob stores an output as a blob and pins it, so that the next one cannot evict it.
func (r *Runner) storeBlob(f *os.File, most grid.Bytes) (id grid.BlobID, size grid.Bytes, err error) {
	if id, size, err = r.cfg.Blobs.Put(r.ctx, f, most, true); err != nil {
		return id, size, notKept(err)
	}
	r.cfg.Blobs.Pin(id)
	return id, size, nil
}

// collectFiles collects the files of an attempt's work folder that match one of the patterns, ordered by path.
// Everything in the attempt's folder is under the task's control; without a sandbox even the name of the work
// folder is. The node may read more than the task, so it follows no link out of the attempt's folder and opens only
// regular files.
func (r *Runner) collectFiles(a *attempt, patterns []string) (files []grid.File, err error) {
	if err := a.files.FolderGone(); err != nil {
		return nil, fmt.Errorf("outputs: %w", faultOf(err))
	}
	own, err := os.OpenRoot(a.dir)
	if err != nil {
		return nil, fmt.Errorf("outputs: %w", faultOf(err))
	}
	defer own.Close()
	root, err := own.OpenRoot(filepath.Base(process.Work(a.dir)))
	if err != nil {
		return nil, fmt.Errorf("outputs: %w", faultOf(err))
	}
	defer root.Close()
	names, problem := outputs.Match(root, patterns)
	problem = faultOf(problem)
	left := r.cfg.MaxCollect
	for i, name := range names {
		if i == grid.MaxFiles {
			problem = errors.Join(problem, fmt.Errorf("outputs: %d files match: only the first %d were collected", len(names),
				grid.MaxFiles))
			break
		}
		f, err := r.collectFile(root, name, left)
		if err != nil {
			problem = errors.Join(problem, fmt.Errorf("output %.64q: %w", name, faultOf(err)))
			continue
		}
		left -= f.Size
		files = append(files, f)
	}
	return files, problem
}

// collectFile stores one file of a work folder.
func (r *Runner) collectFile(root *os.Root, name string, left grid.Bytes) (out grid.File, err error) {
	if !grid.Inside(name) || !grid.Printable(name) {
		return out, fmt.Errorf("its path of %d bytes cannot travel: want at most %d of printable text, and no backslash",
			len(name), grid.MaxPath)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return out, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return out, err
	}
	if !info.Mode().IsRegular() {
		return out, errors.New("is not an ordinary file")
	}
	if grid.Bytes(info.Size()) > left {
		return out, fmt.Errorf("has %d bytes: want at most %d for all outputs of a task", info.Size(), r.cfg.MaxCollect)
	}
	out = grid.File{Path: name, Exec: info.Mode()&0o100 != 0}
	out.Blob, out.Size, err = r.storeBlob(f, left)
	return out, err
}

// lastLine returns the last line that is not empty of what an attempt wrote to its standard error, as far as it stands
// in the last grid.MaxInline bytes; "" if there is none, or the file cannot be read.
func lastLine(dir string) string {
	f, err := os.Open(process.Output(dir, process.Stderr))
	if err != nil {
		return ""
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	tail := make([]byte, min(end, int64(grid.MaxInline)))
	if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil && err != io.EOF {
		return ""
	}
	return grid.LastLine(tail)
}
