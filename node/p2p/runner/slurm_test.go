package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/exec/slurm"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/engines"
	"skep/node/p2p/internal/rig"
)

// slurmRunner is a runner whose commands of Slurm are scripts: sbatch is the given one, and squeue lists nothing.
func slurmRunner(t *testing.T, sbatch string) (*Runner, *loop) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"sbatch": sbatch, "squeue": "", "scancel": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r, l := openRunner(t)
	r.Close()
	cfg := r.cfg
	none := grid.IsolationNone
	cfg.Boxes.Isolation, cfg.Units = &none, units.NewTable(nil, nil)
	cfg.Boxes.Engine.Slurm = &engines.Slurm{Options: slurm.Options{Dir: t.TempDir(), Step: []string{"step"}},
		Cluster: &slurm.Cluster{Partition: "work", Hosts: []slurm.Host{{Name: "a", CPUs: 4, Memory: 1 << 30}}}}
	r, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, l
}

func restored(t *testing.T, r *Runner) {
	t.Helper()
	if err := r.Restored(); err != nil {
		t.Fatal(err)
	}
}

// What tasks in Slurm do without is refused in words, before anything is submitted.
func TestNotInSlurm(t *testing.T) {
	r, _ := slurmRunner(t, "exit 1")
	restored(t, r)
	for want, change := range map[string]func(*grid.JobSpec){
		"gangs":                   func(s *grid.JobSpec) { s.Gang.Ranks = 2 },
		"terminals":               func(s *grid.JobSpec) { s.Terminal.On = true },
		"a standard input":        func(s *grid.JobSpec) { s.Stdin = grid.StdinStream },
		"processors of their own": func(s *grid.JobSpec) { s.Needs.Pin = true },
		"counted resources":       func(s *grid.JobSpec) { s.Needs.Counts = "gpu=1" },
		"folders of the machine":  func(s *grid.JobSpec) { s.Folders = &grid.Folders{Home: "/data"} },
	} {
		spec := rig.Sh("true")
		change(spec)
		err := r.makeFolderAway(filepath.Join(r.attemptsDir(), "a"), spec)
		var no *process.ExecError
		if !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want a refusal that says so", want, err)
		}
	}
	if err := r.makeFolderAway(filepath.Join(r.attemptsDir(), "a"), rig.Sh("true")); err != nil {
		t.Error(err)
	}
	b := &Boxes{Engine: engines.Options{Slurm: &engines.Slurm{}}, Expose: []sandbox.Expose{{Path: "/data"}}}
	basic := grid.IsolationBasic
	b.Isolation = &basic
	if err := b.Defaults(); err == nil || !strings.Contains(err.Error(), "expose") ||
		!strings.Contains(err.Error(), "isolation basic") {
		t.Errorf("%v: want both settings that do not go with Slurm", err)
	}
}

// An attempt that is to be taken over and was never submitted has not run: the node is told, and may start it.
func TestNothingToTakeOver(t *testing.T) {
	r, l := slurmRunner(t, "echo 1")
	id, spec := attemptID(1), rig.Sh("true")
	r.RecordSaved(&grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: id, Spec: spec, State: grid.WorkRunning}})
	restored(t, r)
	r.Start(grid.Start{Attempt: id, Spec: spec, Again: true})
	rig.Await(t, "that it is late", func() bool { return l.count(grid.EvLate) == 1 })
	if l.count(grid.EvStarted)+l.count(grid.EvEnded) > 0 {
		t.Error("it counts as started, or as ended")
	}
	r.Start(grid.Start{Attempt: id, Spec: spec})
	rig.Await(t, "its job", func() bool { return l.count(grid.EvStarted) == 1 })
	// the job that sbatch speaks of is in no list: it has not run, and is started once more
	rig.Await(t, "that it is late again", func() bool { return l.count(grid.EvLate) == 2 })
	r.Stop(grid.Stop{Attempt: id})
}

// Where the order of a task that ran cannot be read the attempt is not started again: it is lost, or has failed where
// it was to run at most once.
func TestOrderIsNotRead(t *testing.T) {
	for retries, want := range []grid.Cause{grid.Failed, grid.Lost} {
		r, l := slurmRunner(t, "echo 1")
		id, spec := attemptID(1), rig.Sh("true")
		spec.Retries = int32(retries)
		dir := filepath.Join(r.attemptsDir(), "a")
		err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "order.json"), nil, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		r.RecordSaved(&grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: id, Spec: spec, State: grid.WorkRunning}})
		restored(t, r)
		r.Start(grid.Start{Attempt: id, Spec: spec, Again: true})
		rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
		if l.count(grid.EvLate)+l.count(grid.EvStarted) > 0 {
			t.Errorf("%d retries: it counts as late, or as started", retries)
		}
		l.mu.Lock()
		for _, ev := range l.events {
			if ev.Kind == grid.EvEnded && ev.Result.Cause != want {
				t.Errorf("%d retries: %+v: want %v", retries, ev.Result, want)
			}
		}
		l.mu.Unlock()
	}
}

// The node must not start where the folder of jobs is not the one of before, or cannot be read.
func TestJobsAreNotRead(t *testing.T) {
	r, _ := slurmRunner(t, "exit 1")
	if err := os.Rename(r.attemptsDir(), r.attemptsDir()+"-away"); err != nil {
		t.Fatal(err)
	}
	if r.Restored() == nil {
		t.Error("want an error where the folder is not there")
	}
	if err := os.Mkdir(r.attemptsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if r.Restored() == nil {
		t.Error("want an error where the folder is another one")
	}
}
