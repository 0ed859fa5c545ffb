package process

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// view is what can be seen of a box from outside: its processes, and the memory that belongs to none of them. It is
// opened when it is first wanted, since most tasks end before.
type view struct {
	of     looker
	closed atomic.Bool

	mu        sync.Mutex // held while somebody looks
	opened    bool
	proc, shm *os.File
	ipc       [3]*os.File // the lists of System V shared memory, semaphores and message queues
	failed    int         // how often it could not be opened, one after the other
	err       error       // of the last time
}

// open reports whether there is anything to see.
func (v *view) open() bool {
	if v.closed.Load() || v.of == nil {
		return false
	}
	if !v.opened {
		proc, shm, ipc, err := v.of.Look()
		if err != nil {
			v.failed, v.err = v.failed+1, err
			return false
		}
		v.opened, v.proc, v.shm, v.ipc, v.failed = true, proc, shm, ipc, 0
	}
	return true
}

// trouble is how often the view could not be opened, one time after the other, and why.
func (v *view) trouble() (failed int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed, v.err
}

// close closes what was opened, now or when who looks has finished: a look may take long.
func (v *view) close() {
	v.closed.Store(true)
	v.tidy()
}

func (v *view) tidy() {
	if !v.closed.Load() || !v.mu.TryLock() {
		return
	}
	defer v.mu.Unlock()
	for _, f := range append(v.ipc[:], v.proc, v.shm) {
		f.Close()
	}
	v.proc, v.shm, v.ipc = nil, nil, [3]*os.File{}
}

// tryLook is look, unless somebody else looks at this moment; it reports whether it did.
func (v *view) tryLook(f func(root string, pids []int)) bool {
	if !v.mu.TryLock() {
		return false
	}
	v.locked(f)
	return true
}

// look calls f with the folder that tells of the box's processes, and with these, but for process 1.
func (v *view) look(f func(root string, pids []int)) {
	v.mu.Lock()
	v.locked(f)
}

func (v *view) locked(f func(root string, pids []int)) {
	defer v.tidy()
	defer v.mu.Unlock()
	if !v.open() {
		return
	}
	root := "/proc/self/fd/" + strconv.Itoa(int(v.proc.Fd()))
	dir, err := os.Open(root)
	if err != nil {
		return
	}
	defer dir.Close()
	var pids []int
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	f(root, pids)
}

// figure is a number that takes a look to know.
type figure struct {
	asked atomic.Bool // somebody looks
	n     atomic.Int64
	ok    atomic.Bool
}

// patience is how long such a look is waited for. A task can make one long, as those wait which change its memory.
const patience = 500 * time.Millisecond

// ask finds the number out, or is content with the last one if that takes too long.
func (f *figure) ask(v *view, find func(root string, pids []int) (n int64, ok bool)) (int64, bool) {
	if f.asked.CompareAndSwap(false, true) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer f.asked.Store(false)
			v.look(func(root string, pids []int) {
				n, ok := find(root, pids)
				f.n.Store(n)
				f.ok.Store(ok)
			})
		}()
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
		}
	}
	return f.n.Load(), f.ok.Load()
}

// memory is what a box holds, in bytes.
type memory struct {
	resident int64 // of all processes; what several of them share counts for each
	mapped   int64 // of that, what is of files in memory
	objects  int64 // files in memory: /dev/shm, System V shared memory, and what only descriptors name
	kernel   int64 // of the kernel for System V semaphores and messages
}

func (m memory) sum() int64 { return m.resident + max(m.objects-m.mapped, 0) + m.kernel }

// filesIn is how much memory files on a file system in memory have.
func filesIn(f *os.File) int64 {
	var fs unix.Statfs_t
	if f == nil || unix.Fstatfs(int(f.Fd()), &fs) != nil {
		return 0
	}
	return int64(fs.Blocks-fs.Bfree) * fs.Bsize
}

// machineShmem is the memory of all files in memory on this machine.
func machineShmem() int64 {
	b, err := readSome("/proc/meminfo", 4096)
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(b, []byte("\nShmem:"))
	return number(after, 0) << 10
}

// own is what of /dev/shm and of System V objects the box has for itself: nothing in a pod, where the control groups
// count it.
func (t *watched) own() (shm *os.File, ipc [3]*os.File) {
	if t.spec.Pod != nil {
		return nil, ipc
	}
	return t.view.shm, t.view.ipc
}

// lookIntoBox adds up what the box of a task holds, when the files in memory of the machine have shmem bytes, of which
// at most some can be its own.
func (t *watched) lookIntoBox(shmem, most int64) {
	t.view.look(func(root string, pids []int) {
		shm, ipc := t.own()
		if t.spec.Pod != nil {
			t.pooled.Store(filesIn(t.view.shm) + segments(t.view.ipc[0]))
		}
		m := memory{objects: filesIn(shm) + segments(ipc[0])}
		var threads int64
		pids, m.resident, m.mapped, threads = statuses(root, pids)
		m.kernel = semaphores(ipc[1], threads) + messages(ipc[2])
		t.nameless.look(root, pids, shmem, most-m.objects)
		m.objects += t.nameless.known
		t.objects.Store(m.objects)
		m.objects += t.nameless.guess
		t.size, t.members = m.sum(), pids
	})
}

// shared is the size of processes that may share pages, each page counted once, and what belongs to none of them.
func (t *watched) shared() (sum int64, ok bool) {
	if t.view.of == nil {
		return proportionalSum("/proc", t.members)
	}
	t.view.look(func(root string, pids []int) {
		var mapped, threads int64
		ok = true
		for _, pid := range pids {
			s, id := statusOf(root, pid)
			if !s.has {
				continue
			}
			all, shmem, readable := proportional(root, id)
			if !readable && resident(root, id) > 0 {
				ok = false
			}
			sum, mapped, threads = sum+all+s.tables, mapped+shmem, threads+s.threads
		}
		shm, ipc := t.own()
		sum += max(filesIn(shm)+segments(ipc[0])+t.nameless.known+t.nameless.guess-mapped, 0)
		sum += semaphores(ipc[1], threads) + messages(ipc[2])
	})
	return sum, ok
}

func proportionalSum(root string, pids []int) (sum int64, ok bool) {
	for _, pid := range pids {
		n, _, readable := proportional(root, pid)
		if !readable && resident(root, pid) > 0 {
			return 0, false
		}
		sum += n
	}
	return sum, true
}
