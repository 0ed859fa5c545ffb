package slurm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"skep/exec/process"
)

// Order says what a step is to run. It is on disk before there is a batch job for it.
type Order struct {
	Key   string // names the attempt: of printable letters, without |
	Dir   string // of the attempt, as Engine.Prepare has made it
	Argv  []string
	Env   []string // NAME=VALUE
	Stdin bool     // it reads the file stdinFile in Dir

	CPUs      int
	Memory    int64         // bytes; 0 = what the partition gives
	Timeout   time.Duration // from when it runs; 0 = none
	Grace     time.Duration // between SIGTERM and SIGKILL
	MaxOutput int64         // bytes of each stream

	Keep []string // for the caller, who has it back after a restart

	Submission int    // which of the attempt's batch jobs this is for, from 1
	Step       string // the program of the step
}

// The files of an order, in the attempt's folder. What the task reads, writes and prints is where package process has
// it.
const (
	orderFile = "order.json"
	endFile   = "end.json"
	logFile   = "slurm.log" // what the batch job itself prints
)

func claimFile(dir string, k int) string { return filepath.Join(dir, "claim."+strconv.Itoa(k)) }

// maxRecord bounds a file that is read back: an order has at most the words of a job.
const maxRecord = 16 << 20

// end is how a step ended, as it wrote it down.
type end struct {
	Cause   process.Cause
	Exit    int
	Signal  int
	Error   string
	Stopped bool // it was sent SIGTERM from outside
	Job     string
	Host    string

	Started time.Time
	Wall    time.Duration
	CPU     time.Duration
	MaxRSS  int64

	Kept, Dropped [2]int64
	NotKept       string
}

// result is the end as the node has it. A task without a box can write what it likes into its folder: what would not be
// possible is made harmless.
func (x *end) result(maxOutput int64) process.Result {
	r := process.Result{Cause: x.Cause, Exit: x.Exit & 0xff, Signal: min(max(x.Signal, 0), 127), Error: x.Error,
		Started: x.Started, Wall: max(x.Wall, 0), CPU: max(x.CPU, 0), MaxRSS: max(x.MaxRSS, 0),
		StdoutDropped: max(x.Dropped[0], 0), StderrDropped: max(x.Dropped[1], 0)}
	for i, n := range x.Kept {
		r.Kept[i] = min(max(n, 0), maxOutput)
	}
	if x.NotKept != "" {
		r.NotKept = errors.New(x.NotKept)
	}
	return r
}

// writeRecord writes a file that is whole when it has its name, and on disk.
func writeRecord(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFile(path, b, 0o600)
}

func writeFile(path string, content []byte, mode os.FileMode) error {
	if err := install(path, bytes.NewReader(content), mode); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// install makes a file with a content, which has its name once it is whole and on disk.
func install(path string, content io.Reader, mode os.FileMode) error {
	f, err := draft(filepath.Dir(path), ".draft-*", content, mode)
	if err != nil {
		return err
	}
	defer os.Remove(f)
	return os.Rename(f, path)
}

// draft makes a file under a name of the pattern, and returns its path once its content is on disk.
func draft(dir, pattern string, content io.Reader, mode os.FileMode) (path string, err error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	// some network file systems cannot, and keep names without
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// open opens a file in whose place a task may have put anything: no link is followed, and nothing is waited for.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// readRecord reads such a file, if it is an ordinary one.
func readRecord(path string, v any) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return fmt.Errorf("%s: is not a file of at most %d bytes", path, maxRecord)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
