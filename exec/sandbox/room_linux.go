//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// openRoom looks at the bounds of processes and threads that hold for this node: those of its user, of its control
// groups and of the machine, and at how many there are. Where none can be read the room is nil.
func openRoom(slots int) *room {
	left, by := int64(math.MaxInt64), ""
	bound := func(what string, most, have int64) {
		if most > 0 && most-have < left {
			left, by = most-have, fmt.Sprintf("%s %d", what, most)
		}
	}
	all := int64(0)
	if text, err := os.ReadFile("/proc/loadavg"); err == nil { // 0.00 0.00 0.00 running/all last
		if f := strings.Fields(string(text)); len(f) > 3 {
			_, after, _ := strings.Cut(f[3], "/")
			all, _ = strconv.ParseInt(after, 10, 64)
		}
	}
	for _, name := range [...]string{"pid_max", "threads-max"} {
		bound("kernel."+name, readNumber("/proc/sys/kernel/"+name), all)
	}
	var l unix.Rlimit
	if !unlimitedUser() && unix.Getrlimit(unix.RLIMIT_NPROC, &l) == nil && l.Cur < math.MaxInt64 {
		bound("RLIMIT_NPROC", int64(l.Cur), threadsOf(os.Getuid()))
	}
	for _, dir := range pidsGroups("/proc/self/cgroup", cgroupRoot) {
		bound("pids.max", readNumber(path.Join(dir, "pids.max")), readNumber(path.Join(dir, "pids.current")))
	}
	if by == "" {
		return nil
	}
	return newRoom(left, by, slots)
}

// unlimitedUser reports whether the kernel does not count the processes of this user: root's outside of user
// namespaces.
func unlimitedUser() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	f := strings.Fields(string(text))
	return os.Getuid() == 0 && err == nil && len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// threadsOf counts the threads of all processes of a user. The owner of a folder in /proc is not always that of the
// process.
func threadsOf(uid int) (n int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var threads int64
		own := false
		for line := range bytes.Lines(text) {
			switch f := bytes.Fields(line); {
			case bytes.HasPrefix(line, []byte("Uid:")) && len(f) > 1:
				own = string(f[1]) == strconv.Itoa(uid)
			case bytes.HasPrefix(line, []byte("Threads:")) && len(f) > 1:
				threads, _ = strconv.ParseInt(string(f[1]), 10, 64)
			}
		}
		if own {
			n += threads
		}
	}
	return n
}

// pidsGroups are the folders of the control groups that bound the processes of a process, the innermost first.
func pidsGroups(self, root string) (dirs []string) {
	text, _ := os.ReadFile(self)
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || f[1] != "" && f[1] != "pids" {
			continue
		}
		for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
			dirs = append(dirs, path.Join(root, f[1], at))
			if at == "/" {
				break
			}
		}
	}
	return dirs
}

// readNumber reads a file of one number; 0 where it says none.
func readNumber(file string) int64 {
	text, _ := os.ReadFile(file)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
