package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Reap ends the processes that tasks of a killed node left behind, and says how many. To be called
// before the first Start, with the folder in which that node kept its attempts. A process is one of
// them if the variable Marker in its environment names a folder inside, or if it shares a session
// with such a process and the session's own leader is gone or one of them too.
func Reap(folder string) (int, error) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		if os.IsNotExist(err) {
			return 0, nil
		}
		return 0, fmt.Errorf("process: find leftover tasks: %w", err)
	}
	n, err := reap(func(dir string) bool { return inside(dir, folder) || inside(dir, real) })
	if err != nil {
		return n, fmt.Errorf("process: end leftover tasks: %w", err)
	}
	return n, nil
}

// inside says whether path is dir or beneath it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// reap kills until no process is found any more, since one may fork while it is looked for.
func reap(ours func(dir string) bool) (killed int, err error) {
	seen := make(map[int]bool)
	for range 20 {
		found, err := find(ours)
		if err != nil {
			return killed, err
		}
		if len(found) == 0 {
			return killed, nil
		}
		for pid, check := range found {
			if kill(pid, check) && !seen[pid] {
				seen[pid] = true
				killed++
			}
		}
	}
	return killed, fmt.Errorf("some processes do not end")
}

// find maps each leftover process to the test by which it was found.
func find(ours func(dir string) bool) (map[int]func() bool, error) {
	self := os.Getpid()
	mine, _ := unix.Getsid(0)
	found := make(map[int]func() bool)
	sessions := make(map[int]bool)
	others := make(map[int][]int)
	err := eachProcess(func(pid int) {
		session, err := unix.Getsid(pid)
		if err != nil || session == 0 || session == mine || pid == self {
			return // gone, of the kernel, or of the node's own session, which no task is in
		}
		if dir := attemptOf(pid); dir != "" && ours(dir) {
			found[pid] = func() bool { return ours(attemptOf(pid)) }
			sessions[session] = true
		} else {
			others[session] = append(others[session], pid)
		}
	})
	for session := range sessions {
		if _, err := unix.Getsid(session); err == nil && found[session] == nil {
			continue // its leader lives and is not ours
		}
		for _, pid := range others[session] {
			found[pid] = func() bool { s, err := unix.Getsid(pid); return err == nil && s == session }
		}
	}
	return found, err
}

// kill ends a process if check still holds for it, and waits a moment for its end. The descriptor is
// taken before the check and names one process for ever: if that one still lives after the check, it
// was the one checked, and it gets the signal even if the number is used again.
func kill(pid int, check func() bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !check() || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return false
	}
	end := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for until := time.Now().Add(100 * time.Millisecond); ; {
		if n, err := unix.Poll(end, 100); n > 0 || err != unix.EINTR || time.Now().After(until) {
			return true
		}
	}
}
