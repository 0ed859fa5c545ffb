package slurm

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/process"
	"skep/internal/slurmtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == StepCommand {
		code, err := RunStep(os.Args[2], os.Args[3])
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// rig is an engine on a cluster of its own.
type rig struct {
	*Engine
	tb      testing.TB
	cluster *slurmtest.Cluster
	dir     string
	data    string
}

func newRig(tb testing.TB, cpus int) *rig {
	r := &rig{tb: tb, cluster: slurmtest.Start(tb, cpus, 1024), dir: tb.TempDir(), data: tb.TempDir()}
	r.open(func(string) bool { return false })
	tb.Cleanup(func() { r.Close() })
	return r
}

// open opens the engine, possibly again: as after a kill of the node, since Close leaves jobs alone.
func (r *rig) open(wanted func(string) bool) {
	r.tb.Helper()
	program, err := os.Executable()
	if err != nil {
		r.tb.Fatal(err)
	}
	o := Options{Dir: r.dir, Data: r.data, Node: "test", Step: []string{program, StepCommand}, Poll: 50 * time.Millisecond,
		Settle: 2 * time.Second, Log: slog.New(slog.NewTextHandler(r.tb.Output(), nil))}
	c, err := Look(r.tb.Context(), &o)
	if err != nil {
		r.tb.Fatal(err)
	}
	if r.Engine, err = Open(o, c); err != nil {
		r.tb.Fatal(err)
	}
	if err := r.Former(wanted); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *rig) adopt(key string) *Task {
	r.tb.Helper()
	t, err := r.Adopt(key, nil)
	if err != nil {
		r.tb.Error(err)
	}
	return t
}

// order returns an order of a shell script, whose folder is made.
func (r *rig) order(key, script string) Order {
	r.tb.Helper()
	dir := filepath.Join(r.Folder(), key)
	if err := r.Prepare(dir); err != nil {
		r.tb.Fatal(err)
	}
	return Order{Key: key, Dir: dir, Argv: []string{"sh", "-c", script}, Env: process.Inherited(), CPUs: 1,
		Grace: time.Second, MaxOutput: 1 << 20}
}

func (r *rig) start(o Order) *Task {
	r.tb.Helper()
	t, err := r.Start(o, nil)
	if err != nil {
		r.tb.Fatal(err)
	}
	return t
}

// wait waits for the end of a task, for a minute at most.
func (r *rig) wait(t *Task) process.Result {
	r.tb.Helper()
	select {
	case <-t.Done():
	case <-time.After(time.Minute):
		r.tb.Fatalf("%s has not ended: Slurm says of it: %s", t.Name(), t.Last().Text)
	}
	return t.Wait()
}

// output is what a task has printed on stdout.
func output(t *Task) string {
	b, _ := os.ReadFile(process.Output(t.Dir(), process.Stdout))
	return string(b)
}

// await waits for something, for a minute at most.
func await(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("want %s", what)
		}
	}
}

// runs counts the lines of a file to which each run of a script adds one.
func runs(path string) int {
	b, _ := os.ReadFile(path)
	return strings.Count(string(b), "\n")
}
