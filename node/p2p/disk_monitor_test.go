package p2p

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// While a disk is nearly full, folders that take long to measure are measured seldom, and at once when more is
// written. Regression: each check measured them, and one task with many files on a full disk kept a core busy.
func TestFoldersAreMeasuredAgainAfterWrites(t *testing.T) {
	a := &attempt{dir: t.TempDir()}
	u := &taskUsage{maxFiles: 1000}
	s := newDiskMonitor(&Driver{cfg: Config{DiskLow: grid.GiB}, tasks: new(tasks)})
	s.running[a] = u
	free, floor := 900*grid.MiB, s.d.cfg.diskFloor()
	grow := func(name string) {
		if err := os.WriteFile(filepath.Join(a.dir, name), make([]byte, grid.MiB), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grow("1")
	if s.relieve(free); u.Bytes < grid.MiB {
		t.Fatalf("%d bytes seen at first", u.Bytes)
	}
	s.measured.took = time.Hour // as with very many files
	grow("2")
	if s.relieve(free - floor/16); u.Bytes >= 2*grid.MiB {
		t.Error("measured again, and little was written")
	}
	if s.relieve(free - floor/8); u.Bytes < 2*grid.MiB {
		t.Error("much was written, and it was not measured")
	}
	s.measured.took = time.Hour
	grow("3")
	s.measured.ended -= grid.Time(11 * time.Hour)
	if s.relieve(free); u.Bytes < 3*grid.MiB {
		t.Error("not measured again after ten times as long as it took")
	}
}

// If a disk is filled by something in no folder, such as a file that was removed and mapped, the biggest writer is
// ended.
func TestBiggestWriterIsEndedIfNoFolderIsLarge(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	if !a.tasks.runner.Boxed() {
		t.Skip("no boxes here: nobody is ended")
	}
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("this kernel does not tell what is written: ", err)
	}
	small, large := a.job(1), a.job(2)
	for id, script := range map[grid.JobID]string{small: "sleep 1000", large: "dd if=/dev/zero of=f bs=1M count=8 conv=fsync; rm f; sleep 1000"} {
		if err := a.Submit(t.Context(), id, sh(script)); err != nil {
			t.Fatal(err)
		}
	}
	var known bool
	const floor = 16 * grid.MiB
	await(t, "both run, and one has written what is in no folder", func() bool {
		a.diskMonitor.mu.Lock()
		defer a.diskMonitor.mu.Unlock()
		var most int64
		for u, used := range a.diskMonitor.running {
			p := a.tasks.processOf(u)
			if p == nil || used.Bytes >= floor/8 {
				return false
			}
			n, ok := a.tasks.runner.Written(p)
			most, known = max(most, n), ok
		}
		return len(a.diskMonitor.running) == 2 && most >= 8<<20
	})
	if known {
		a.diskMonitor.endWriter(0, 100*floor) // something else fills the disk
	}
	a.diskMonitor.endWriter(0, floor)
	if r := a.result(grid.TaskID{Job: large}); !strings.Contains(r.Error, "has written most, 8 MiB") {
		t.Errorf("%v, %q", r.Cause, r.Error)
	}
	if v, _ := a.fake.Task(grid.TaskID{Job: small}); v.Result != nil {
		t.Errorf("the other has ended: %+v", v.Result)
	}
}
