//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"runtime"

	"skep/grid"
)

// Sandbox makes no boxes on this system.
type Sandbox struct{}

// Open returns a sandbox without boxes.
func Open(o Options) (*Sandbox, error) { return &Sandbox{}, o.check() }

// Boxes reports that commands do not run in boxes.
func (*Sandbox) Boxes() bool { return false }

// Level is that of a machine without boxes.
func (*Sandbox) Level() grid.Isolation { return grid.IsolationNone }

// Processes is 0: nothing divides what there may be.
func (*Sandbox) Processes() (int64, string) { return 0, "" }

// Findings says why there are none.
func (*Sandbox) Findings() []Finding {
	return []Finding{{Property: Processes, What: "only Linux on amd64 and arm64 has boxes, and this is " + runtime.GOOS +
		" on " + runtime.GOARCH}}
}

// Shows reports whether tasks see what is at a path of the machine: all of it.
func (*Sandbox) Shows(string) bool { return true }

// TakeID has no user ID to give.
func (*Sandbox) TakeID() (uint32, error) { return 0, nil }

// ReleaseID has none to take back.
func (*Sandbox) ReleaseID(uint32, bool) {}

// Close has nothing to end.
func (*Sandbox) Close() error { return nil }
