package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/internal/rig"
)

// gated is a script that prints a line, and goes on once its file "gate" is gone, with its folder or alone.
const gated = "echo begin >&2; : > gate; while [ -e gate ]; do sleep 0.02; done; "

// endOf starts an attempt of a gated script, calls meanwhile with its folder once its task waits at its gate and its
// line is kept, opens the gate, and returns its end.
func endOf(t *testing.T, r *Runner, l *loop, id grid.AttemptID, spec *grid.JobSpec, meanwhile func(dir string) error,
) *grid.Result {
	t.Helper()
	ends := l.count(grid.EvEnded)
	r.Start(grid.Start{Attempt: id, Spec: spec})
	dir := r.lookup(id).dir
	gate := filepath.Join(process.Work(dir), "gate")
	rig.Await(t, "it waits", func() bool {
		kept, err := os.Stat(process.Output(dir, process.Stderr))
		if err != nil || kept.Size() == 0 {
			return false
		}
		_, err = os.Stat(gate)
		return err == nil
	})
	if err := meanwhile(dir); err != nil {
		t.Fatal(err)
	}
	os.Remove(gate)
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) > ends })
	return l.last(grid.EvEnded).Result
}

// What is taken away from under a running task, or cannot be written for it, makes its attempt lost. What the task did
// itself is its own end.
func TestWhatARunningTaskLoses(t *testing.T) {
	r, l := openRunner(t)
	nothing := func(string) error { return nil }
	noOutput := func(dir string) error { return os.Mkdir(process.Output(dir, process.Stdout), 0o700) }
	for i, c := range []struct {
		what    string
		script  string
		outputs []string
		take    func(dir string) error
		cause   grid.Cause
		exit    int32
		says    string
	}{
		{"its folder, with an output in it", "exit 0", []string{"out"}, os.RemoveAll, grid.Lost, 125, "taken away"},
		{"its folder, and it fails", "exit 4", nil, os.RemoveAll, grid.Lost, 125, "taken away"},
		{"its folder, and it needs nothing of it", "echo well", nil, os.RemoveAll, grid.Exited, 0, ""},
		{"what it has printed", "exit 0", nil, func(dir string) error {
			return os.Remove(process.Output(dir, process.Stderr))
		}, grid.Lost, 125, ".stderr: no such file"},
		{"the end of what it has printed", "exit 0", nil, func(dir string) error {
			return os.Truncate(process.Output(dir, process.Stderr), 3)
		}, grid.Lost, 125, "has 3 bytes where 6 were written"},
		{"the room for what it prints", "echo more", nil, noOutput, grid.Lost, 125, "could not be kept"},
		{"nothing, and its output is not made", "exit 0", []string{"out"}, nothing, grid.Exited, 0, ""},
		{"nothing, and it fails without its own files", "rm -rf * .[a-z]*; exit 4", []string{"out"}, nothing, grid.Exited,
			4, ""},
		{"nothing, and it prints too much", "head -c 2000000 /dev/zero", nil, nothing, grid.Exited, 125, "beyond the bound"},
	} {
		spec := rig.Sh(gated + c.script)
		spec.Outputs, spec.Retries = c.outputs, 1
		res := endOf(t, r, l, attemptID(byte(i)), spec, c.take)
		if c.what == "its folder, and it fails" && !r.processes.Boxed() { // there it may have removed that itself
			c.cause, c.exit, c.says = grid.Exited, 4, ""
		}
		says := strings.Contains(res.Error, c.says) && (c.says != "" || res.Error == "")
		if res.Cause != c.cause || res.Exit != c.exit || !says {
			t.Errorf("it loses %s: %v, exit %d, %q: want %v, %d, %q", c.what, res.Cause, res.Exit, res.Error, c.cause,
				c.exit, c.says)
		}
	}
}

// prepareOnly prepares an attempt whose start lease has run out, so that it waits for another start.
func prepareOnly(t *testing.T, r *Runner, l *loop, id grid.AttemptID, spec *grid.JobSpec) (work string) {
	t.Helper()
	late := l.count(grid.EvLate)
	r.Start(grid.Start{Attempt: id, Spec: spec, Until: clock.Now() - 1})
	rig.Await(t, "it is prepared", func() bool { return l.count(grid.EvLate) > late })
	return process.Work(r.lookup(id).dir)
}

// An attempt whose folder is emptied before its task begins is lost, also where it looks as if its program were not
// there. One that is to run at most once has not run: it may run elsewhere, so it is refused.
func TestWhatIsTakenBeforeATaskBegins(t *testing.T) {
	r, l := openRunner(t)
	blob, size, err := r.cfg.Blobs.Put(t.Context(), strings.NewReader("#!/bin/sh\nexit 0\n"), grid.MiB, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		what    string
		take    func(work string) error
		retries int32
		cause   grid.Cause
	}{
		{"nothing", func(string) error { return nil }, 1, grid.Exited},
		{"its program", func(work string) error { return os.Remove(filepath.Join(work, "prog")) }, 1, grid.Lost},
		{"an input", func(work string) error { return os.Remove(filepath.Join(work, "data/in")) }, 1, grid.Lost},
		{"its folder", os.RemoveAll, 1, grid.Lost},
		{"its folder and all", func(work string) error { return os.RemoveAll(filepath.Dir(work)) }, 1, grid.Lost},
		{"its program, at most once", func(work string) error { return os.Remove(filepath.Join(work, "prog")) }, 0,
			grid.Failed},
	} {
		spec := &grid.JobSpec{Count: 1, Command: []string{"./prog"}, Retries: c.retries, Inputs: []grid.File{
			{Path: "prog", Blob: blob, Size: size, Exec: true}, {Path: "data/in", Blob: blob, Size: size}}}
		id := attemptID(byte(i))
		if err := c.take(prepareOnly(t, r, l, id, spec)); err != nil {
			t.Fatal(err)
		}
		r.Start(grid.Start{Attempt: id, Spec: spec, Until: clock.Now().Add(time.Hour)})
		rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == i+1 })
		res := l.last(grid.EvEnded).Result
		taken := strings.Contains(res.Error, "taken away")
		if res.Cause != c.cause || taken != (c.cause != grid.Exited) || (res.Exit == 125) != taken {
			t.Errorf("%s is taken away: %v, exit %d, %q: want %v", c.what, res.Cause, res.Exit, res.Error, c.cause)
		}
	}
}

// Boxes cannot be given another folder of attempts than that of the node's start. Where it was taken away the node
// ends, once, and its attempts are lost: else it would take what comes, and run nothing.
func TestTheFolderOfAllAttemptsIsTaken(t *testing.T) {
	r, l := openRunner(t)
	var fatal []error
	r.cfg.Fatal = func(err error) { fatal = append(fatal, err) }
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		spec := rig.Sh("exit 0")
		spec.Retries = 1
		r.Start(grid.Start{Attempt: attemptID(byte(i)), Spec: spec})
		rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == i+1 })
		res := l.last(grid.EvEnded).Result
		if !r.processes.Boxed() {
			if res.Cause != grid.Exited || res.Exit != 0 {
				t.Errorf("without boxes it is made again: %+v", res)
			}
			continue
		}
		if res.Cause != grid.Lost || len(fatal) != 1 || !strings.Contains(fatal[0].Error(), r.dir) {
			t.Errorf("%+v, and the node ends with %v", res, fatal)
		}
	}
}

// A start that fails because its files are taken away that moment says nothing about the program, however it fails.
func TestAStartFailsAsFilesAreTaken(t *testing.T) {
	work := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	a := &attempt{spec: &grid.JobSpec{Retries: 1}}
	if err := a.files.Made(work); err != nil {
		t.Fatal(err)
	}
	end := func() grid.Cause {
		noProgram := &process.ExecError{Cause: process.NotFound, Path: "./prog", Err: os.ErrNotExist}
		return startFailure(a, noProgram, func(c grid.Cause, _ int32, _ error) *grid.Result {
			return &grid.Result{Cause: c}
		}).Cause
	}
	if c := end(); c != grid.NotFound {
		t.Errorf("nothing is taken away: %v", c)
	}
	os.Remove(work)
	if c := end(); c != grid.Lost {
		t.Errorf("its folder is taken away: %v", c)
	}
}
