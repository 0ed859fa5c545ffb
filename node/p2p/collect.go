package p2p

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"skep/exec/process"
	"skep/grid"
)

// maxWalk bounds the entries of a work folder that are searched for outputs.
const maxWalk = 100_000

// errNotKept reports that the node failed to store outputs of a task. The task is not to blame: it may succeed
// elsewhere.
var errNotKept = errors.New("could not be kept")

// collect makes the result of an attempt whose process has ended: how it ended, what it printed, and the output
// files that the job asks for. The blobs that it names are pinned. An attempt whose outputs this node could not
// store is lost, however it ended: a task must not be reported as successful while its output is gone.
func (t *tasks) collect(dir string, spec *grid.JobSpec, end *process.Result, waited time.Duration) *grid.Result {
	r := &grid.Result{Cause: causeOf(end.Cause), Exit: int32(end.Code()), Error: end.Error, Waited: waited,
		Wall: end.Wall, CPU: end.CPU, MaxRSS: grid.Bytes(end.MaxRSS)}
	var problems []error
	keep := func(s process.Stream, dropped int64) grid.Output {
		o, err := t.collectOutput(process.Output(dir, s))
		o.Dropped = grid.Bytes(dropped)
		problems = append(problems, err)
		return o
	}
	r.Stdout = keep(process.Stdout, end.StdoutDropped)
	r.Stderr = keep(process.Stderr, end.StderrDropped)
	if len(spec.Outputs) > 0 && end.Cause != process.DiskExceeded {
		files, err := t.collectFiles(dir, spec.Outputs)
		r.Outputs = files
		problems = append(problems, err)
	}
	err := errors.Join(problems...)
	if errors.Is(err, errNotKept) {
		t.d.unpin(r.Blobs(nil))
		r.Cause, r.Exit, r.Error = grid.Lost, grid.ExitSkep, ""
		r.Stdout, r.Stderr, r.Outputs = grid.Output{}, grid.Output{}, nil
	}
	if err != nil {
		if r.Error != "" {
			r.Error += "; "
		}
		r.Error += strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if r.Cause == grid.Exited && r.Exit == 0 && r.Error != "" {
		r.Exit = grid.ExitSkep // no success if something requested is missing
	}
	r.Error = cutText(r.Error)
	return r
}

// collectOutput returns what a task printed: inline if it is short, else as a durable blob.
func (t *tasks) collectOutput(file string) (o grid.Output, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) { // created with its first byte
		return o, nil
	}
	if err == nil {
		defer f.Close()
		o, err = t.storeOutput(f)
	}
	if err != nil {
		err = fmt.Errorf("what it printed: %w", notKept(err))
	}
	return o, err
}

func notKept(err error) error {
	if errors.Is(err, errNotKept) {
		return err
	}
	return fmt.Errorf("%w: %w", errNotKept, err)
}

// storeOutput stores one of its two streams.
func (t *tasks) storeOutput(f *os.File) (o grid.Output, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return o, err
	}
	if size := grid.Bytes(info.Size()); size <= grid.MaxInline {
		o.Inline, o.Size = make([]byte, size), size
		_, err = io.ReadFull(f, o.Inline)
		return o, err
	}
	o.Blob, o.Size, err = t.storeBlob(f, t.d.cfg.MaxOutput)
	return o, err
}

// storeBlob stores an output as a blob and pins it, so that the next one cannot evict it.
func (t *tasks) storeBlob(f *os.File, most grid.Bytes) (id grid.BlobID, size grid.Bytes, err error) {
	if id, size, err = t.d.blobs.Put(t.d.ctx, f, most, true); err != nil {
		return id, size, notKept(err)
	}
	t.d.blobs.Pin(id)
	return id, size, nil
}

// collectFiles collects the files of an attempt's work folder that match one of the patterns, ordered by path.
// Everything in the attempt's folder is under the task's control; without a sandbox even the name of the work
// folder is. The node may read more than the task, so it follows no link out of the attempt's folder and opens only
// regular files.
func (t *tasks) collectFiles(dir string, patterns []string) (files []grid.File, err error) {
	own, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	defer own.Close()
	root, err := own.OpenRoot(filepath.Base(process.Work(dir)))
	if err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	defer root.Close()
	names, problem := matches(root, patterns)
	left := t.d.cfg.MaxCollect
	for i, name := range names {
		if i == grid.MaxFiles {
			problem = errors.Join(problem, fmt.Errorf("outputs: %d files match: only the first %d were collected", len(names), grid.MaxFiles))
			break
		}
		f, err := t.collectFile(root, name, left)
		if err != nil {
			problem = errors.Join(problem, fmt.Errorf("output %.64q: %w", name, err))
			continue
		}
		left -= f.Size
		files = append(files, f)
	}
	return files, problem
}

// collectFile stores one file of a work folder.
func (t *tasks) collectFile(root *os.Root, name string, left grid.Bytes) (out grid.File, err error) {
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
		return out, fmt.Errorf("has %d bytes: want at most %d for all outputs of a task", info.Size(), t.d.cfg.MaxCollect)
	}
	out = grid.File{Path: name, Exec: info.Mode()&0o100 != 0}
	out.Blob, out.Size, err = t.storeBlob(f, left)
	return out, err
}

// matches returns the paths of the regular files that match one of the patterns, ordered.
func matches(root *os.Root, patterns []string) (names []string, err error) {
	split := make([][]string, len(patterns))
	for i, p := range patterns {
		split[i] = strings.Split(path.Clean(p), "/")
	}
	seen := 0
	for folders := []string{"."}; len(folders) > 0; {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		f, err := root.Open(folder)
		if err != nil {
			continue // the task removed its own permissions
		}
		for {
			entries, err := f.ReadDir(1024)
			for _, d := range entries {
				name := path.Join(folder, d.Name())
				if d.IsDir() {
					folders = append(folders, name)
				} else if d.Type().IsRegular() && matchAny(split, strings.Split(name, "/")) {
					names = append(names, name)
				}
			}
			seen += len(entries)
			if err != nil || seen > maxWalk {
				break
			}
		}
		f.Close()
		if seen > maxWalk {
			err = fmt.Errorf("outputs: the work folder has more than %d entries: the rest was not looked at", maxWalk)
			slices.Sort(names)
			return names, err
		}
	}
	slices.Sort(names)
	return names, nil
}

func matchAny(patterns [][]string, name []string) bool {
	return slices.ContainsFunc(patterns, func(p []string) bool { return match(p, name) })
}

// match is path.Match element by element; in addition, an element ** matches any number of elements, none included,
// and a pattern that matches a folder matches all in it. A mismatch backtracks to the last ** only, which is
// enough, so the time is bounded by the product of the lengths.
func match(pattern, name []string) bool {
	p, n := 0, 0
	star, from := -1, 0 // the last **, and the first element of name that it may still take
	for p < len(pattern) {
		switch {
		case pattern[p] == "**":
			star, from = p, n
			p++
			continue
		case n < len(name):
			if ok, err := path.Match(pattern[p], name[n]); ok && err == nil {
				p++
				n++
				continue
			}
		}
		if star < 0 || from >= len(name) {
			return false
		}
		from++
		p, n = star+1, from
	}
	return true // the rest of name is inside a folder that the pattern names
}
