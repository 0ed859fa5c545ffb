package p2p

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
)

// While a disk stays nearly full, folders that take long to measure are measured seldom, and at once when more is written.
// Every look measured them: one task with many files on a full disk kept a core busy.
func TestFoldersAreMeasuredAgainWhenSomethingIsWritten(t *testing.T) {
	a := &attempt{dir: t.TempDir()}
	u := new(user)
	s := newSpace(&Driver{cfg: Config{DiskLow: grid.GiB}})
	s.users[a] = u
	free, floor := 900*grid.MiB, s.d.cfg.floor()
	grow := func(name string) {
		if err := os.WriteFile(filepath.Join(a.dir, name), make([]byte, grid.MiB), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grow("1")
	if s.relieve(free); u.size < grid.MiB {
		t.Fatalf("%d bytes seen at first", u.size)
	}
	s.walk.took = time.Hour // so many files
	grow("2")
	if s.relieve(free - floor/16); u.size >= 2*grid.MiB {
		t.Error("measured again, and little was written")
	}
	if s.relieve(free - floor/8); u.size < 2*grid.MiB {
		t.Error("much was written, and it was not measured")
	}
	s.walk.took = time.Hour
	grow("3")
	s.walk.ended -= grid.Time(11 * time.Hour)
	if s.relieve(free); u.size < 3*grid.MiB {
		t.Error("not measured again after ten times as long as it took")
	}
}
