package process

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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

// groupAlive says whether the group has a process that still runs. A zombie does not: where process 1
// of a container reaps nobody, zombies stay for ever.
func groupAlive(group int) bool {
	alive := false
	eachProcess(func(pid int) {
		if pg, err := unix.Getpgid(pid); err != nil || pg != group || alive {
			return
		}
		unix.Wait4(pid, nil, unix.WNOHANG, nil) // ours to reap if the node is process 1
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return
		}
		// pid (name) state ...: the name may hold anything, the last parenthesis ends it.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) {
			alive = stat[i+2] != 'Z' && stat[i+2] != 'X'
		}
	})
	return alive
}

// resident is the resident size of a process in bytes [4], 0 if it is gone.
func resident(pid int) int64 {
	b, err := readSome("/proc/"+strconv.Itoa(pid)+"/statm", 128)
	if err != nil {
		return 0
	}
	return number(b, 1) * int64(os.Getpagesize())
}

// proportional is the same with each page that n processes share counted as 1/n of a page. The
// kernel walks the page tables for it: not for every look.
func proportional(pid int) (size int64, ok bool) {
	b, err := readSome("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", 4096)
	if err != nil {
		return 0, false
	}
	_, after, found := bytes.Cut(b, []byte("\nPss:"))
	return number(after, 0) << 10, found
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
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return ""
	}
	for _, e := range bytes.Split(env, []byte{0}) {
		if dir, ok := bytes.CutPrefix(e, []byte(Marker+"=")); ok {
			return string(dir)
		}
	}
	return ""
}
