package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// status is what the kernel tells of the memory of a process [1], in bytes.
//
//	[1] proc_pid_status(5).
type status struct {
	has     bool  // it has memory: neither zombies nor what is about to be one have
	all     int64 // resident, swapped out with it, and page tables
	tables  int64 // of that, page tables
	shmem   int64 // of that, what is resident of files in memory
	threads int64
}

func readStatus(root string, pid int) (s status) {
	b, err := readWhole(fmt.Sprintf("%s/%d/status", root, pid))
	if err != nil {
		return s
	}
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch string(name) {
		case "VmRSS":
			s.has = true
			s.all += number(value, 0) << 10
		case "VmPTE":
			s.tables = number(value, 0) << 10
			s.all += s.tables
		case "VmSwap":
			s.all += number(value, 0) << 10
		case "RssShmem":
			s.shmem = number(value, 0) << 10
		case "Threads":
			s.threads = number(value, 0)
		}
	}
	return s
}

// readWhole reads a file that is short as a rule. A status lists the groups of its process before the memory, and these
// may be 65,536.
func readWhole(path string) ([]byte, error) {
	for most := int64(4096); ; most *= 8 {
		b, err := readSome(path, most)
		if err != nil || int64(len(b)) < most || most > 1<<20 {
			return b, err
		}
	}
}

// statusOf is the status of a process, and the ID by which its memory and its files are found.
func statusOf(root string, pid int) (status, int) {
	s := readStatus(root, pid)
	if s.has || s.threads < 2 {
		return s, pid
	}
	id := holder(root, pid)
	return readStatus(root, id), id
}

// holder is a thread of a process that has its memory and its files. The main thread has them no more once it has
// ended, and the process lives on as long as another has not. What /proc shows of a process it shows for the ID of any
// thread.
func holder(root string, pid int) int {
	dir, err := os.Open(fmt.Sprintf("%s/%d/task", root, pid))
	if err != nil {
		return pid
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && hasMemory(root, id) {
			return id
		}
	}
	return pid
}

// statuses are the IDs of those processes that have memory, how much it is of all together, how much of that is of
// files in memory, and how many threads they have.
func statuses(root string, pids []int) (ids []int, all, shmem, threads int64) {
	ids = make([]int, 0, len(pids))
	for _, pid := range pids {
		if s, id := statusOf(root, pid); s.has {
			ids = append(ids, id)
			all, shmem, threads = all+s.all, shmem+s.shmem, threads+s.threads
		}
	}
	return ids, all, shmem, threads
}

// hasMemory reports whether a thread has an address space, however little of it is resident.
func hasMemory(root string, id int) bool {
	b, _ := readSome(fmt.Sprintf("%s/%d/statm", root, id), 128)
	return number(b, 0) > 0
}
