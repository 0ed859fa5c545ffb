package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/p2p/internal/rig"
)

// While a disk is nearly full, folders that take long to measure are measured seldom, and at once when more is
// written. Regression: each check measured them, and one task with many files on a full disk kept a core busy.
func TestFoldersAreMeasuredAgainAfterWrites(t *testing.T) {
	a := &attempt{folder: folder{dir: t.TempDir()}}
	u := &taskUsage{maxFiles: 1000}
	s := newDiskMonitor(&Config{DiskLow: grid.GiB}, new(Runner))
	s.running[a] = u
	free, floor := 900*grid.MiB, s.cfg.diskFloor()
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
	r, loop := openRunner(t)
	if !r.boxed() {
		t.Skip("no boxes here: nobody is ended")
	}
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("this kernel does not tell what is written: ", err)
	}
	small, large := attemptID(1), attemptID(2)
	r.Start(grid.Start{Attempt: small, Spec: rig.Sh("sleep 1000")})
	// What a process has written is, for a moment at its end, counted with neither it nor the one that waits for it.
	r.Start(grid.Start{Attempt: large,
		Spec: rig.Sh("dd if=/dev/zero of=f bs=1M count=8 conv=fsync; rm f; >over; sleep 1000")})
	known := true
	const floor = 16 * grid.MiB
	rig.Await(t, "both run, and one has written what is in no folder", func() bool {
		r.disk.mu.Lock()
		defer r.disk.mu.Unlock()
		var most grid.Bytes
		over := false
		known = true
		for u, used := range r.disk.running {
			p := r.processOf(u)
			if p == nil || used.Bytes >= floor/8 {
				return false
			}
			n, ok := r.written(p)
			most, known = max(most, n), known && ok
			_, err := os.Stat(filepath.Join(process.Work(u.dir), "over"))
			over = over || err == nil
		}
		return len(r.disk.running) == 2 && over && most >= 8*grid.MiB
	})
	if known {
		r.disk.endWriter(0, 100*floor) // something else fills the disk
	}
	r.disk.endWriter(0, floor)
	rig.Await(t, "it ends", func() bool { return loop.count(grid.EvEnded) > 0 })
	if ev := loop.last(grid.EvEnded); ev.Attempt != large ||
		!strings.Contains(ev.Result.Error, "has written most, 8 MiB") {
		t.Errorf("%v has ended: %+v", ev.Attempt, ev.Result)
	}
	if n := loop.count(grid.EvEnded); n != 1 {
		t.Errorf("%d tasks have ended: want one", n)
	}
}

func TestBoundOfAFileIfLittleIsFree(t *testing.T) {
	low := &Config{DataDir: t.TempDir(), DiskLow: 1 << 60}
	free, err := disk.Free(low.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if n := grid.Bytes(low.maxFile()); n < free/4 || n > free {
		t.Errorf("%d bytes where little is left of %d: want half", n, free)
	}
}

// Free space is looked at when the disk monitor asks for it, else seldom; a change is told once.
func TestLowDiskIsToldOnce(t *testing.T) {
	r, _ := openRunner(t)
	if _, changed := r.CheckDisk(1); changed {
		t.Fatal("a change is told, and there is space")
	}
	r.cfg.DiskLow = 1 << 60
	if _, changed := r.CheckDisk(2); changed {
		t.Error("looked at again at once, and nobody asked for it")
	}
	r.disk.checkNow.Store(true)
	if low, changed := r.CheckDisk(3); !low || !changed {
		t.Errorf("low %v, changed %v: want both", low, changed)
	}
	r.disk.checkNow.Store(true)
	if low, changed := r.CheckDisk(4); !low || changed {
		t.Errorf("low %v, changed %v: want it low, and not told again", low, changed)
	}
}
