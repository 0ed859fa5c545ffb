package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"skep/exec/suspend"
)

// bareMembers are the processes of a task without a box: those of its session, and those that name its folder in their
// environment.
func (p *Process) bareMembers() suspend.Task {
	return suspend.Bare(func(pid int) bool {
		session, err := unix.Getsid(pid)
		return err == nil && session == p.pid || attemptOf(pid) == p.spec.Dir
	})
}

// eachProcess calls f with the ID of each process of the machine.
func eachProcess(f func(pid int)) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			f(pid)
		}
	}
	return err
}

// resident is the resident size of a process in bytes [1], 0 if it is gone. The root is where /proc is.
func resident(root string, pid int) int64 {
	b, err := readSome(fmt.Sprintf("%s/%d/statm", root, pid), 128)
	if err != nil {
		return 0
	}
	return number(b, 1) * int64(os.Getpagesize())
}

// proportional is the same with each page that n processes share counted as 1/n of a page, pages that were swapped out
// with it, and what of it is of files in memory.
// The kernel walks the page tables for it: not for every look.
func proportional(root string, pid int) (all, shmem int64, ok bool) {
	b, err := readSome(fmt.Sprintf("%s/%d/smaps_rollup", root, pid), 4096)
	if err != nil {
		return 0, 0, false
	}
	_, after, found := bytes.Cut(b, []byte("\nPss:"))
	_, files, _ := bytes.Cut(b, []byte("\nPss_Shmem:"))
	_, swapped, _ := bytes.Cut(b, []byte("\nSwapPss:"))
	return (number(after, 0) + number(swapped, 0)) << 10, number(files, 0) << 10, found
}

// number is the i-th number of a line of fields, counted from 0.
func number(b []byte, i int) int64 {
	if f := bytes.Fields(b); i < len(f) {
		n, _ := strconv.ParseInt(string(f[i]), 10, 64)
		return n
	}
	return 0
}

func readSome(path string, most int64) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, most)
	for n := 0; ; {
		m, err := unix.Read(fd, b[n:])
		if err == unix.EINTR {
			continue
		}
		if n += max(m, 0); err != nil || m == 0 || n == len(b) {
			return b[:n], err
		}
	}
}

// attemptOf is the attempt's folder that the environment of a process names, "" if none.
func attemptOf(pid int) string {
	env := environment(pid)
	if len(env) == 0 { // of a process whose main thread has ended another has it
		if id := holder("/proc", pid); id != pid {
			env = environment(id)
		}
	}
	for _, e := range bytes.Split(env, []byte{0}) {
		if dir, ok := bytes.CutPrefix(e, []byte(Marker+"=")); ok {
			return string(dir)
		}
	}
	return ""
}

func environment(pid int) []byte {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil
	}
	return env
}
