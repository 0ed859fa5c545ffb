package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// inBox reports whether this process has a PID namespace of its own.
func inBox(w *world.World) bool {
	ns, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && ns != w.PIDs
}

// errOwn is why a process ID is not tried: it would hit a process of the box.
var errOwn = errors.New("in its box the number is that of a process of its own")

// find returns the ID by which this process may know another: what /proc shows, or else the ID that it has on the
// machine.
func find(w *world.World, p *world.Process) (int, error) {
	if p.PID == 0 {
		return 0, errors.New("there is no such process")
	}
	if p.Name == world.Init && !inBox(w) {
		return 0, errors.New("there is no box")
	}
	if !inBox(w) || p.Name == world.Init {
		return p.PID, nil
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		b, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && p.Mark != "" && bytes.Contains(b, []byte(p.Mark)) && pid != os.Getpid() && pid != os.Getppid() {
			return pid, nil
		}
	}
	if _, err := os.Stat(fmt.Sprint("/proc/", p.PID)); err == nil {
		return 0, errOwn
	}
	return p.PID, nil
}

func opensHandle(w *world.World) result {
	if len(w.Handle) == 0 {
		return untried("the file system has no handles")
	}
	var last error
	for _, dir := range []string{".", "/", "/usr", w.ReadOnly} {
		mount, err := unix.Open(dir, unix.O_RDONLY, 0)
		if err != nil {
			continue
		}
		fd, err := unix.OpenByHandleAt(mount, unix.NewFileHandle(w.HandleType, w.Handle), unix.O_RDONLY)
		if err == nil {
			return reads(fmt.Sprint("/proc/self/fd/", fd))
		}
		last = err
	}
	return lost("%v", last)
}
