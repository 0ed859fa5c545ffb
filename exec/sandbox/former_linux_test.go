//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A node that starts is told whether something of the boxes of a killed one is left: as long as the process is there
// that was written down, and not when another has its number.
func TestFormerZygote(t *testing.T) {
	dir := t.TempDir()
	if pid := Former(dir, 0); pid != 0 {
		t.Errorf("in a new folder process %d is left", pid)
	}
	left := exec.Command("sleep", "100")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{opts: Options{Dir: dir}}
	if err := s.remember(left.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if pid := Former(dir, 20*time.Millisecond); pid != left.Process.Pid {
		t.Errorf("process %d is left, want %d", pid, left.Process.Pid)
	}
	left.Process.Kill()
	left.Wait()
	if pid := Former(dir, time.Minute); pid != 0 {
		t.Errorf("process %d is left when it has ended", pid)
	}
	file := filepath.Join(zygotes(dir), strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(file, []byte("another start"), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := Former(dir, time.Minute); pid != 0 {
		t.Errorf("process %d is left, which is another of that number", pid)
	}
}

// The zygote of an open sandbox is written down.
func TestZygotesAreWrittenDown(t *testing.T) {
	s := open(t, nil)
	if pid := Former(s.opts.Dir, 0); pid != s.forker.cmd.Process.Pid {
		t.Errorf("process %d is left, want the zygote, %d", pid, s.forker.cmd.Process.Pid)
	}
}
