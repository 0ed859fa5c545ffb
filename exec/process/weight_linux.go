//go:build amd64 || arm64

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
)

func groupWeight(s *Spec) int { return groupWeightOf(s, runtime.NumCPU()) }

// The kernel lets others than root change one in a tenth of a second, of all there are.
const (
	sessionTries = 50
	sessionPause = 110 * time.Millisecond
)

// weighSession gives the session of a task its niceness where the kernel divides the processors between sessions first
// [sched(7), autogroup], and niceness counts within one only. It ends with the task, or when that is done.
func (r *Runner) weighSession(p *Process, box *sandbox.Box) {
	if text, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); err != nil || number(text, 0) == 0 {
		return
	}
	pid := p.pid
	if r.sandbox.Boxes() {
		if pid = hostProcess(box, pid); pid == 0 {
			return
		}
	}
	nice := strconv.AppendInt(nil, int64(r.nicenessOf(&p.spec)), 10)
	for range sessionTries {
		err := os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), nice, 0)
		if err == nil || !errors.Is(err, unix.EAGAIN) {
			return
		}
		select {
		case <-p.done:
			return
		case <-time.After(sessionPause):
		}
	}
}

// hostProcess is the ID on the machine of a process of a box; 0 = it is not found.
func hostProcess(box *sandbox.Box, inBox int) (found int) {
	proc, shm, ipc, err := box.Look()
	if err != nil {
		return 0
	}
	defer proc.Close()
	for _, f := range append(ipc[:], shm) {
		f.Close()
	}
	space, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d/%d/ns/pid", proc.Fd(), inBox))
	if err != nil {
		return 0
	}
	eachProcess(func(pid int) {
		if found > 0 {
			return
		}
		if in, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err != nil || in != space {
			return
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // the last of NSpid is the innermost
		_, ids, _ := bytes.Cut(status, []byte("\nNSpid:"))
		ids, _, _ = bytes.Cut(ids, []byte("\n"))
		if f := bytes.Fields(ids); len(f) > 0 && string(f[len(f)-1]) == strconv.Itoa(inBox) {
			found = pid
		}
	})
	return found
}
