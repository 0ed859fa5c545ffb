//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"time"

	"skep/grid"
)

// Sandbox makes no boxes on this system.
type Sandbox struct{}

// Open returns a sandbox without boxes.
func Open(o Options) (*Sandbox, error) {
	for i := range o.Expose {
		if as, _ := o.Expose[i].Grant.IDs(); as.User != 0 {
			return nil, fmt.Errorf("expose %s: tasks cannot run as another user on this system: want it without as and for",
				&o.Expose[i])
		}
	}
	return &Sandbox{}, o.check()
}

// Pod is what boxes share, of which there are none on this system.
type Pod struct{}

// NewPod reports that there are none.
func (*Sandbox) NewPod(int64) (*Pod, error) { return nil, fmt.Errorf("%s has no boxes", runtime.GOOS) }

// Close has nothing to let go of.
func (*Pod) Close() {}

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

// Former is 0: there are no boxes that could be left.
func Former(string, time.Duration) int { return 0 }

// TakeID has no user ID to give.
func (*Sandbox) TakeID() (uint32, error) { return 0, nil }

// ReleaseID has none to take back.
func (*Sandbox) ReleaseID(uint32, bool) {}

// Close has nothing to end.
func (*Sandbox) Close() error { return nil }
