//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Zygotes are written down, each as a file named by its process ID with what beganAt returns in it: whether tasks of a
// killed node still end can be told by its zygote, which stays until all of its PID namespace is gone.

func zygotes(dir string) string { return filepath.Join(dir, "zygotes") }

// remember writes a zygote down, before it makes the first box.
func (s *Sandbox) remember(pid int) error {
	dir := zygotes(s.opts.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, strconv.Itoa(pid)), []byte(beganAt(pid)), 0o600)
}

// Former waits until nothing of the boxes of a former run of a node is left, and returns 0; or, after a time, the ID of
// the process that keeps what is left. dir is Options.Dir. To be called before Open.
func Former(dir string, most time.Duration) (pid int) {
	files, _ := os.ReadDir(zygotes(dir))
	until := time.Now().Add(most)
	for _, f := range files {
		path := filepath.Join(zygotes(dir), f.Name())
		began, err := os.ReadFile(path)
		pid, bad := strconv.Atoi(f.Name())
		for err == nil && bad == nil && len(began) > 0 && beganAt(pid) == string(began) {
			if time.Now().After(until) {
				return pid
			}
			time.Sleep(10 * time.Millisecond)
		}
		os.Remove(path)
	}
	return 0
}

// beganAt is the start time of a process that has not ended, the 22nd field of its stat, and the machine's start; "" =
// there is none.
func beganAt(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third on, the state
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return fields[19] + " " + strings.TrimSpace(string(boot))
}
