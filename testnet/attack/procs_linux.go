package attack

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// eachProcess calls f with the ID of every process.
func eachProcess(f func(pid int)) {
	entries, _ := os.ReadDir("/proc")
	for _, d := range entries {
		if pid, err := strconv.Atoi(d.Name()); err == nil {
			f(pid)
		}
	}
}

// commandLine is that of a process, its words parted by spaces.
func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// processesWith are those that have a text in their command line.
func processesWith(mark string) (pids []int) {
	eachProcess(func(pid int) {
		if pid != os.Getpid() && strings.Contains(commandLine(pid), mark) {
			pids = append(pids, pid)
		}
	})
	return pids
}

// parentOf is a process's parent; 0 if it is not there.
func parentOf(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	var state string
	var parent int
	fmt.Sscan(rest, &state, &parent)
	return parent
}

// childOf is a child of a process; 0 if it has none.
func childOf(pid int) (child int) {
	eachProcess(func(other int) {
		if parentOf(other) == pid {
			child = other
		}
	})
	return child
}
