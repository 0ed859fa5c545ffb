package stdin

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// wrappers run one command with their own standard input and read nothing of it: what they were given was meant for
// that command.
var wrappers = []string{"timeout", "sudo", "doas", "time", "strace", "perf"}

// maxWrappers bounds the wrappers around each other that are looked through.
const maxWrappers = 4

// ofParent reports whether a file is also the standard input of the calling process, but for wrappers.
func ofParent(st os.FileInfo) bool {
	pid := os.Getppid()
	for range maxWrappers {
		name, parent := process(pid)
		if !slices.Contains(wrappers, name) {
			break
		}
		pid = parent
	}
	held, err := os.Stat(fmt.Sprintf("/proc/%d/fd/0", pid))
	return err == nil && os.SameFile(st, held)
}

// process returns the name of a process, and its parent.
func process(pid int) (name string, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	text := string(b) // PID (NAME) STATE PARENT …; the name may have parentheses
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return "", 0
	}
	if fields := strings.Fields(text[to+1:]); len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return text[from+1 : to], parent
}
