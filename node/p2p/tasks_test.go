package p2p

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
)

// put stores content as a blob at this member and returns it as a file.
func (m *member) put(path string, content []byte, exec bool) grid.File {
	m.t.Helper()
	id, size, err := m.Blobs().Put(context.Background(), bytes.NewReader(content), grid.GiB, false)
	if err != nil {
		m.t.Fatal(err)
	}
	return grid.File{Path: path, Blob: id, Size: size, Exec: exec}
}

func TestProgramIsAnInput(t *testing.T) {
	a, b := openPair(t)
	spec := rig.Sh("")
	spec.Command = []string{"bin/prog", "${SKEP_INDEX}/${SKEP_COUNT}", "$HOME ${OTHER} ${SKEP_"}
	spec.Inputs = []grid.File{
		a.put("bin/prog",
			[]byte("#!/bin/sh\ncat data/in\necho \"$@\"\necho $SKEP_NODE $SKEP_ATTEMPT $MODE\necho x > made\nmkdir -p "+
				"out/deep\necho y > out/deep/y.csv\necho z > out/z.txt\nln -s /etc/passwd out/link.csv\nmkfifo out/pipe.csv\n"),
			true),
		a.put("data/in", []byte("hello\n"), false),
	}
	spec.Outputs = []string{"made", "out/**/*.csv"}
	spec.Env = []grid.Var{{Name: "MODE", Value: "fast"}}
	r := a.run(1, spec)
	want := fmt.Sprintf("hello\n0/1 $HOME ${OTHER} ${SKEP_\n%s 1.1 fast\n", b.self)
	if r.Cause != grid.Exited || r.Exit != 0 || string(r.Stdout.Inline) != want {
		t.Fatalf("result %+v\nstdout %q, want %q\nstderr %q", r, r.Stdout.Inline, want, r.Stderr.Inline)
	}
	var names []string
	for _, f := range r.Outputs {
		names = append(names, f.Path)
	}
	if !slices.Equal(names, []string{"made", "out/deep/y.csv"}) {
		t.Errorf("outputs %v: want the two ordinary files that match", names)
	}
	if n := b.runner.Fetched(); n != 2 {
		t.Errorf("%d blobs fetched: want 2", n)
	}
	a.run(2, spec)
	if n := b.runner.Fetched(); n != 2 {
		t.Errorf("a second task with the same program fetched %d blobs: want none", n-2)
	}
	rig.Await(t, "work folders are removed once the results are acknowledged", func() bool {
		left, _ := os.ReadDir(b.workDir())
		return len(left) == 0
	})
}

func TestCauses(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	job := func(words ...string) *grid.JobSpec {
		s := rig.Sh("")
		s.Command = words
		return s
	}
	quick := rig.Sh("sleep 30")
	quick.Timeout = 50 * time.Millisecond
	data := a.put("data", []byte("no program"), false)
	binary := a.put("prog", []byte("\x7fELF no program either"), true)
	missing := rig.Sh("true")
	missing.Inputs = []grid.File{{Path: "x", Blob: grid.BlobID{1}, Size: 3}}
	tests := []struct {
		name  string
		spec  *grid.JobSpec
		in    *grid.File
		cause grid.Cause
		exit  int32
	}{
		{"exit", rig.Sh("exit 7"), nil, grid.Exited, 7},
		{"signal", rig.Sh("kill -9 $$"), nil, grid.Signaled, 137},
		{"no such program", job("no-such-program"), nil, grid.NotFound, 127},
		{"no such file", job("./nothing"), nil, grid.NotFound, 127},
		{"not executable", job("./data"), &data, grid.CannotExecute, 126},
		{"wrong format", job("./prog"), &binary, grid.CannotExecute, 126},
		{"time limit", quick, nil, grid.TimedOut, 124},
		{"the data folder is shut", rig.Sh("cat " + filepath.Join(a.cfg.DataDir, identity.KeyFile)), nil, grid.Exited, 1},
	}
	for i, tt := range tests {
		if tt.in != nil {
			tt.spec.Inputs = []grid.File{*tt.in}
		}
		r := a.run(byte(i+1), tt.spec)
		if r.Cause != tt.cause || r.Exit != tt.exit {
			t.Errorf("%s: %v, exit %d (%s): want %v, %d", tt.name, r.Cause, r.Exit, r.Error, tt.cause, tt.exit)
		}
	}
}

func TestLongOutputIsABlob(t *testing.T) {
	a, _ := openPair(t)
	r := a.run(1, rig.Sh("head -c 100000 /dev/zero; echo short >&2"))
	if r.Stdout.Blob.IsZero() || r.Stdout.Size != 100_000 || r.Stdout.Inline != nil ||
		string(r.Stderr.Inline) != "short\n" {
		t.Fatalf("stdout %+v, stderr %q: want a blob of 100000 bytes and a short text", r.Stdout, r.Stderr.Inline)
	}
	var out bytes.Buffer
	if err := a.Output(context.Background(), &out, grid.TaskID{Job: a.job(1)}, false, 99_000, true); err != nil ||
		out.Len() != 1000 {
		t.Errorf("%d bytes from offset 99000, %v: want 1000", out.Len(), err)
	}
}

func TestNoOutputIsNoError(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	silent := rig.Sh("exec sleep 60")
	silent.Timeout = 50 * time.Millisecond
	for i, spec := range []*grid.JobSpec{rig.Sh("exit 0"), silent} {
		r := a.run(byte(i+1), spec)
		if strings.Contains(r.Error, "output") || r.Stdout.Size != 0 || r.Stderr.Size != 0 {
			t.Errorf("%q: %+v: want empty outputs and no word about them", spec.Command, r)
		}
	}
}

// isRunning reports whether a process of this machine, no zombie, has a mark in its command.
func isRunning(mark string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
			return true
		}
	}
	return false
}

// After a stop the node is told of the end once the process has ended, also if it ignores SIGTERM, and without a
// result.
func TestStopReportsTheEnd(t *testing.T) {
	t.Parallel()
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	for i, how := range []string{"stopped", "let go of", "both"} {
		id := a.job(byte(i + 1))
		mark := fmt.Sprintf("60.%d%d", os.Getpid(), i)
		script := "exec sleep " + mark
		if how == "both" {
			script = ": " + mark + `; trap "" TERM; while :; do sleep 0.05; done`
		}
		if err := a.Submit(context.Background(), id, rig.Sh(script)); err != nil {
			t.Fatal(err)
		}
		attempt := grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		rig.Await(t, "it runs", func() bool { return a.fake.count(grid.EvStarted) == i+1 })
		a.do(func(fx *grid.Effects) {
			if how != "stopped" {
				r := fx.Save(grid.RecWork)
				r.Delete, r.Work.ID = true, attempt
			}
			if how != "let go of" {
				fx.Stops = append(fx.Stops, grid.Stop{Attempt: attempt})
			}
		})
		rig.Await(t, how+": its end is told", func() bool { return a.fake.count(grid.EvEnded) == i+1 })
		if isRunning(mark) {
			t.Errorf("%s: its end is told and its process runs", how)
		}
		rig.Await(t, how+": its folder is removed", func() bool {
			left, _ := os.ReadDir(a.workDir())
			return len(left) == 0
		})
	}
	if ev, told := a.fake.find(grid.EvEnded, func(ev *grid.Event) bool { return ev.Result != nil }); told {
		t.Errorf("the result %+v is told of what nobody wants", ev.Result)
	}
}

func TestStepsOfABatchKeepTheirOrder(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	job := a.job(1)
	first := grid.AttemptID{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	second := first
	second.N = 2
	spec := rig.Sh("exec sleep 60")
	a.inbox.Read(t.Context(), func(grid.Time) { // on the loop's goroutine, between two batches
		l := a.loop
		for _, step := range []func(*grid.Effects){
			func(fx *grid.Effects) { fx.Starts = append(fx.Starts, grid.Start{Attempt: first, Spec: spec}) },
			func(fx *grid.Effects) { fx.Stops = append(fx.Stops, grid.Stop{Attempt: first}) },
			func(fx *grid.Effects) { fx.Starts = append(fx.Starts, grid.Start{Attempt: second, Spec: spec}) },
			func(fx *grid.Effects) {
				r := fx.Save(grid.RecWork)
				r.Delete, r.Work.ID = true, second
				fx.Stops = append(fx.Stops, grid.Stop{Attempt: second})
			},
			func(fx *grid.Effects) { // accepted again
				fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: second, Spec: spec, State: grid.WorkRunning}
				fx.Starts = append(fx.Starts, grid.Start{Attempt: second, Spec: spec})
			},
		} {
			step(&l.fx)
			l.steps = append(l.steps, countEffects(&l.fx))
		}
		l.carryOut()
	})
	rig.Await(t, "only the last one runs", func() bool {
		left, _ := os.ReadDir(a.workDir())
		return a.fake.count(grid.EvStarted) >= 1 && len(left) == 1 && strings.Contains(left[0].Name(), "-1.2-")
	})
}

func TestCloseDoesNotReportTaskEnds(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	if err := a.Submit(context.Background(), a.job(1), rig.Sh("exec sleep 60")); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "it runs", func() bool { return a.fake.count(grid.EvStarted) == 1 })
	a.close()
	if a.fake.count(grid.EvLeave) != 1 || a.fake.count(grid.EvEnded) != 0 {
		t.Errorf("%d leaves, %d ends: want one leave, and no end that would pass for the task's own",
			a.fake.count(grid.EvLeave), a.fake.count(grid.EvEnded))
	}
	again := openMember(t, a.cfg.DataDir, nil)
	kinds := map[grid.RecordKind]int{}
	for _, r := range again.fake.old {
		kinds[r.Kind]++
	}
	if kinds[grid.RecRegister] != 1 || kinds[grid.RecWork] != 1 {
		t.Errorf("restored %v: want the job and the accepted attempt", kinds)
	}
}
