//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"skep/exec/sandbox/zygote"
)

// A stub that the kernel kills with its whole control group tells nothing: that memory ran out the group does. What was
// killed in it before this box, or a stub that ended otherwise, is another matter.
func TestBoxLostForWantOfMemory(t *testing.T) {
	dir := t.TempDir()
	for now, out := range map[string]bool{"low 0\noom 7\noom_kill 5\n": true, "low 0\noom 7\noom_kill 3\n": false} {
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &Box{control: new(socket), group: &group{all: &groups{unified: true}, dirs: []string{dir}}, kills: 3,
			started: make(chan error, 1), exited: make(chan struct{}), empty: make(chan struct{}), heard: true}
		b.told(&zygote.Report{Kind: zygote.ReportStarted, Pid: 2})
		b.told(&zygote.Report{Kind: zygote.ReportGone})
		<-b.Empty()
		end := b.End()
		if end.OutOfMemory != out || end.Broken == out || out && end.Status.Signal() != syscall.SIGKILL {
			t.Errorf("%q: %+v", now, end)
		}
	}
}
