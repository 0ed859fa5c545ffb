//go:build unix && !linux

package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// watcher sees nothing where the system is not Linux.
type watcher struct{}

func (*watcher) init(bool)           {}
func (*watcher) enter(string)        {}
func (*watcher) leave(string)        {}
func (*watcher) add(*Process, group) {}
func (*watcher) remove(*Process)     {}
func (*watcher) close()              {}

// CPU says that it cannot tell: the process table is read on Linux alone.
func (r *Runner) CPU() (time.Duration, bool) { return 0, false }

// Cores is what the processors of the whole machine have done since it started.
type Cores struct {
	Count int
	Busy  time.Duration
	Want  int
	Quota float64
}

// ReadCores says that it cannot tell.
func ReadCores() (Cores, bool) { return Cores{}, false }

// MemoryBound is 0, no bound: control groups are on Linux alone.
func MemoryBound() grid.Bytes { return 0 }

// Reap finds nothing: without /proc there is no safe way to know a leftover process.
func Reap(string) (int, error) { return 0, nil }

func spread(string) {}

func renameNew(from, to string) error { return os.Rename(from, to) }

// permit lets this user into a folder of its own.
func permit(parent int, name string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	return unix.Fchmodat(parent, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}

// enlarge does nothing: pipes have one size.
func enlarge(*os.File) {}
