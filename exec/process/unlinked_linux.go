//go:build amd64 || arm64

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Unlinked is how many bytes of disk the files of a running task have that it has removed and keeps open: they are in
// no folder, and the disk has them until the task closes them. Without boxes it is not known, and 0. It is of the time
// before if a look takes long.
func (r *Runner) Unlinked(p *Process) int64 {
	r.watch.mu.Lock()
	t := r.watch.tasks[p]
	r.watch.mu.Unlock()
	if t == nil || t.view.of == nil {
		return 0
	}
	sum, _ := t.unlinked.ask(&t.view, func(root string, pids []int) (sum int64, ok bool) {
		var memory syscall.Stat_t // whose files are no disk's
		if t.view.shm != nil {
			syscall.Fstat(int(t.view.shm.Fd()), &memory)
		}
		seen, left := make(map[[2]uint64]bool), maxDescriptors
		for _, pid := range pids {
			if !hasMemory(root, pid) {
				pid = holder(root, pid)
			}
			sum += unlinked(fmt.Sprintf("%s/%d/fd", root, pid), memory.Dev, seen, &left)
		}
		return sum, true
	})
	return sum
}

// Written is how many bytes a running task has had written to disk, by the kernel's account of its processes [1]. It is
// false where that is not all: without boxes, on kernels that keep no such account, and where the node is not root,
// which is not told what those had written that process 1 of a box has waited for.
//
//	[1] proc_pid_io(5), under write_bytes.
func (r *Runner) Written(p *Process) (sum int64, ok bool) {
	r.watch.mu.Lock()
	t := r.watch.tasks[p]
	r.watch.mu.Unlock()
	if t == nil || t.view.of == nil {
		return 0, false
	}
	return t.written.ask(&t.view, func(root string, pids []int) (sum int64, ok bool) {
		ok = true
		for _, pid := range append(pids, 1) { // it has waited for those that are gone
			n, err := written(fmt.Sprintf("%s/%d/io", root, pid))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
				ok = false
			}
			sum += n
		}
		return sum, ok
	})
}

// written reads what a process has had written, and those of its children that it has waited for.
func written(path string) (int64, error) {
	b, err := readSome(path, 4096)
	if err != nil {
		return 0, err
	}
	_, after, found := bytes.Cut(b, []byte("\nwrite_bytes:"))
	if !found {
		return 0, errors.ErrUnsupported
	}
	return number(after, 0), nil
}

// unlinked adds up the removed files that a process has open, those on a file system in memory and those seen before
// left out; left are the descriptors that may still be looked at.
func unlinked(dir string, memory uint64, seen map[[2]uint64]bool, left *int) (sum int64) {
	f, err := os.Open(dir)
	if err != nil || *left <= 0 {
		return 0
	}
	defer f.Close()
	names, _ := f.Readdirnames(*left)
	*left -= len(names)
	for _, name := range names {
		link := dir + "/" + name
		to, err := os.Readlink(link)
		if err != nil || strings.HasPrefix(to, "/memfd:") || !strings.HasSuffix(to, "(deleted)") {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(link, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Nlink > 0 ||
			uint64(st.Dev) == memory {
			continue
		}
		if key := [2]uint64{uint64(st.Dev), st.Ino}; !seen[key] {
			seen[key] = true
			sum += st.Blocks * 512
		}
	}
	return sum
}
