//go:build amd64 || arm64

package runner

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/process"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// twoGPUs are two units with a device file each that behaves as /dev/zero, where the test may make such, and one that
// goes with both.
func twoGPUs(t *testing.T) units.Kind {
	t.Helper()
	var paths []string
	for i := range 3 {
		path := fmt.Sprintf("/dev/skep-gpu-%d-%d", os.Getpid(), i)
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil {
			t.Skip("no device files can be made here: ", err)
		}
		t.Cleanup(func() { os.Remove(path) })
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return units.Kind{Name: grid.KindGPU, Vendor: units.Nvidia, Shared: paths[2:],
		Units: []units.Unit{{Files: paths[:1], UUID: "GPU-a"}, {Files: paths[1:2], UUID: "GPU-b"}}}
}

func needing(counts grid.Counts, script string) *grid.JobSpec {
	s := rig.Sh(script)
	s.Needs.CPU, s.Needs.Counts = grid.CPU, counts
	return s
}

// Each task has the units that it needs, their variables and in a box their device files, as long as anything of it
// runs; none that it does not need.
func TestTasksHaveTheirUnits(t *testing.T) {
	gpus := twoGPUs(t)
	r, l := openRunnerWith(t, units.NewTable([]units.Kind{gpus}, nil))
	if !r.processes.Boxed() {
		t.Skip("no boxes here")
	}
	files := strings.Join(append(append(append([]string(nil), gpus.Units[0].Files...), gpus.Units[1].Files...),
		gpus.Shared...), " ")
	tell := fmt.Sprintf(`printf "$SKEP_RESOURCE_GPU $CUDA_VISIBLE_DEVICES:"; for f in %s; do head -c 1 $f 2>/dev/null | wc -c; done`,
		files)
	const hold = "; exec sleep 100"
	said := func(nonce byte) string {
		a := r.lookup(attemptID(nonce))
		if a == nil || a.dir == "" {
			return ""
		}
		text, _ := os.ReadFile(process.Output(a.dir, process.Stdout))
		return strings.Join(strings.Fields(string(text)), " ")
	}
	start := func(nonce byte, spec *grid.JobSpec) { r.Start(grid.Start{Attempt: attemptID(nonce), Spec: spec}) }
	for nonce, c := range map[byte]struct {
		counts grid.Counts
		any    []string
	}{
		1: {"gpu=1", []string{"0 GPU-a:1 0 1", "1 GPU-b:0 1 1"}},
		2: {"gpu=1", []string{"0 GPU-a:1 0 1", "1 GPU-b:0 1 1"}},
		3: {"", []string{":0 0 0"}},
	} {
		start(nonce, needing(c.counts, tell+hold))
		words := len(strings.Fields(c.any[0]))
		rig.Await(t, "what the task tells", func() bool { return len(strings.Fields(said(nonce))) >= words })
		if got := said(nonce); got != c.any[0] && got != c.any[len(c.any)-1] {
			t.Errorf("task %d says %q, want one of %q", nonce, got, c.any)
		}
	}
	if said(1) == said(2) {
		t.Errorf("two tasks have the same unit: %q", said(1))
	}
	// A further one does not start before one of them has ended, whatever the ledger said.
	defer func(d time.Duration) { roomEvery = d }(roomEvery)
	roomEvery = 5 * time.Millisecond
	start(4, needing("gpu=1", tell+hold))
	if l.count(grid.EvStarted) != 3 {
		t.Errorf("%d have started, want three: there are two GPUs", l.count(grid.EvStarted))
	}
	freed := said(2)
	r.Stop(grid.Stop{Attempt: attemptID(2)})
	rig.Await(t, "the task that waits", func() bool { return said(4) == freed })
	// One that ends by itself gives its unit back too, and one that cannot be started.
	r.Stop(grid.Stop{Attempt: attemptID(4)})
	none := needing("gpu=1", "")
	none.Command = []string{"no-such-program"}
	ended := func(nonce byte) func() bool { return func() bool { return l.end(attemptID(nonce)) != nil } }
	for nonce := byte(5); nonce < 10; nonce++ {
		start(nonce, none)
		rig.Await(t, "its end", ended(nonce))
	}
	start(10, needing("gpu=1", tell))
	rig.Await(t, "its end", ended(10))
	res := l.end(attemptID(10))
	if got := strings.Join(strings.Fields(string(res.Stdout.Inline)), " "); res.Exit != 0 || got != freed {
		t.Errorf("the last one: %+v, %q", res, res.Stdout.Inline)
	}
}

// Of a task whose processes hang in the kernel nothing is given to others in this run.
func TestUnitsOfATaskThatHangs(t *testing.T) {
	table := units.NewTable([]units.Kind{{Name: "gpu", Units: make([]units.Unit, 1)}}, nil)
	r, _ := openRunnerWith(t, table)
	for _, c := range []struct {
		hangs bool
		free  bool
	}{{false, true}, {true, false}} {
		a := &attempt{id: attemptID(1), folder: folder{dir: t.TempDir()}}
		a.grant, _ = r.grant(needing("gpu=1", ""))
		r.hangs = func(string) bool { return c.hangs }
		r.release(a)
		if g, ok := table.Take("gpu=1", 0); ok != c.free {
			t.Errorf("hangs %v: the unit can be had: %v", c.hangs, ok)
		} else if ok {
			table.Give(g)
		}
	}
}

// Tasks that are pinned run on processors of their own; the number of threads and of cores is what they need.
func TestTasksThatArePinned(t *testing.T) {
	cpus := units.CPUs()
	if len(cpus) < 2 {
		t.Skip("one processor")
	}
	r, l := openRunnerWith(t, units.NewTable(nil, cpus[:2]))
	said := map[string]bool{}
	for nonce := byte(1); nonce <= 2; nonce++ {
		s := needing("", "sed -n 's/Cpus_allowed_list:.//p' /proc/self/status; echo $SKEP_PINNED_CPUS $SKEP_CPUS "+
			"$OMP_NUM_THREADS >&2; exec >&- 2>&-; exec sleep 100")
		s.Needs.Pin = true
		r.Start(grid.Start{Attempt: attemptID(nonce), Spec: s})
		rig.Await(t, "its start", func() bool { return l.count(grid.EvStarted) == int(nonce) })
		dir := r.lookup(attemptID(nonce)).dir
		var out, told []byte
		rig.Await(t, "what it says", func() bool {
			out, _ = os.ReadFile(process.Output(dir, process.Stdout))
			told, _ = os.ReadFile(process.Output(dir, process.Stderr))
			return bytes.HasSuffix(out, []byte("\n")) && bytes.HasSuffix(told, []byte("\n"))
		})
		at := strings.TrimSpace(string(out))
		if said[at] || string(told) != at+" 1 1\n" {
			t.Errorf("task %d runs on %q and is told %q; others on %v", nonce, at, told, said)
		}
		said[at] = true
	}
	want := map[string]bool{fmt.Sprint(cpus[0]): true, fmt.Sprint(cpus[1]): true}
	if fmt.Sprint(said) != fmt.Sprint(want) {
		t.Errorf("they run on %v, want %v", said, want)
	}
}
