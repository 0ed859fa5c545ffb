package suspend

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Box is a box that a task runs in.
type Box interface {
	Look() (proc, shm *os.File, ipc [3]*os.File, err error)
	SignalProcess(pid int, sig syscall.Signal) error
}

// Boxed is the task in a box: all of its PID namespace but process 1.
func Boxed(b Box) Task { return boxed{b} }

type boxed struct{ box Box }

func (t boxed) Processes() ([]Process, error) {
	proc, shm, ipc, err := t.box.Look()
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	for _, f := range append(ipc[:], shm) {
		f.Close()
	}
	return list(path.Join("/proc/self/fd", strconv.Itoa(int(proc.Fd()))), func(pid int) bool { return pid != 1 })
}

func (t boxed) Signal(pid int, sig syscall.Signal) error { return t.box.SignalProcess(pid, sig) }

// Bare is a task without a box: the processes of the machine of which belongs says so.
func Bare(belongs func(pid int) bool) Task { return bare{belongs} }

type bare struct{ belongs func(pid int) bool }

func (t bare) Processes() ([]Process, error) { return list("/proc", t.belongs) }

// Signal asks again whether the process belongs to the task: the ID of one that was killed may be another's.
func (t bare) Signal(pid int, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !t.belongs(pid) {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != unix.ESRCH {
		return err
	}
	return nil
}

// list lists the processes that the /proc at root shows and that are wanted.
func list(root string, wanted func(pid int) bool) ([]Process, error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !wanted(pid) {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("%s/%d/stat", root, pid))
		if err != nil {
			continue // it has ended
		}
		if p, lives := parse(pid, b); lives {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// parse reads the state of a process [proc_pid_stat(5)], which is that of its main thread. Where that has ended the
// others may run on.
func parse(pid int, stat []byte) (p Process, lives bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 {
		return p, false
	}
	switch state := fields[0][0]; state {
	case 'Z', 'X':
		threads, _ := strconv.Atoi(string(fields[17]))
		return Process{PID: pid}, threads > 1
	default:
		return Process{PID: pid, Stopped: state == 'T' || state == 't', Stuck: state == 'D'}, true
	}
}
