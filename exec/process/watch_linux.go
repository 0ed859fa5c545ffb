package process

import (
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// watcher looks at all tasks at once while there are any: at what memory they hold, and, where they have no boxes, at
// times for processes that outlived their task because they had left its group. A box tells which processes are in it;
// without boxes that takes a look at the session of each process of the machine.
type watcher struct {
	boxes   bool
	mu      sync.Mutex
	idle    *sync.Cond
	tasks   map[*Process]*watched
	dirs    map[string]int      // folders of attempts that may have processes
	ended   map[string]struct{} // folders of attempts that ended since the last sweep
	running bool
	quit    chan struct{}

	least   int64 // that all files in memory of the machine had since the node began: those of tasks are what is above
	looking sync.WaitGroup
}

// watched is a task and what this look, or an earlier one, found about it.
type watched struct {
	*Process
	since   time.Time
	view    view
	recheck time.Time // it may share much: leave it alone until then
	size    int64
	members []int

	nameless nameless
	busy     atomic.Bool // a look at it is under way
	passes   int         // of the watcher since that began
	unlinked figure
	written  figure
	spent    atomic.Int64
	objects  atomic.Int64 // memory of files that are its own for certain, at the last look
	pooled   atomic.Int64 // the same of its pod
}

const (
	lookEvery  = 200 * time.Millisecond
	sweepEvery = 2 * time.Second

	// recheck is how long a task whose resident sizes add up to too much, but only because its
	// processes share memory, is left alone.
	recheck = time.Second

	// blind is how often one after the other a living box may not let itself be looked into.
	blind = 5

	// slow is how many passes a look may take, 15 seconds: longer than a stub may take to answer. Passes are counted and
	// no time, as a node that was stopped has not looked either.
	slow = 75
)

func (w *watcher) init(boxes bool) {
	w.boxes = boxes
	w.idle = sync.NewCond(&w.mu)
	w.tasks = make(map[*Process]*watched)
	w.dirs = make(map[string]int)
	w.ended = make(map[string]struct{})
	w.quit = make(chan struct{})
	w.least = math.MaxInt64
	w.measure()
}

// enter is called before the first process of an attempt exists, leave after its last one, as far as
// is known, is gone.
func (w *watcher) enter(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[dir]++
}

func (w *watcher) leave(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[dir]--; w.dirs[dir] == 0 {
		delete(w.dirs, dir)
	}
}

func (w *watcher) add(p *Process, g group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &watched{Process: p, since: time.Now()}
	if w.boxes {
		t.view.of, _ = g.(looker)
	}
	w.tasks[p] = t
	if !w.running {
		w.running = true
		go w.run()
	}
}

func (w *watcher) remove(p *Process) {
	w.mu.Lock()
	t := w.tasks[p]
	delete(w.tasks, p)
	if !w.boxes {
		w.ended[p.spec.Dir] = struct{}{}
	}
	w.mu.Unlock()
	if t != nil {
		t.view.close()
	}
}

// close sweeps a last time and waits for the goroutine; there are no tasks any more.
func (w *watcher) close() {
	close(w.quit)
	w.mu.Lock()
	for w.running {
		w.idle.Wait()
	}
	w.mu.Unlock()
	w.looking.Wait()
	w.sweep()
}

// run ends when there is no task left and nothing to sweep: a node without tasks does nothing.
func (w *watcher) run() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	swept := time.Now()
	w.measure()
	for {
		select {
		case <-w.quit:
			w.stop(true)
			return
		case <-tick.C:
		}
		w.look()
		if time.Since(swept) >= sweepEvery {
			w.sweep()
			swept = time.Now()
		}
		if w.stop(false) {
			return
		}
	}
}

func (w *watcher) stop(anyway bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if anyway || len(w.tasks)+len(w.ended) == 0 {
		w.running = false
		w.idle.Broadcast()
		return true
	}
	return false
}

// sweep ends processes that name the folder of an ended attempt in their environment.
func (w *watcher) sweep() {
	w.mu.Lock()
	ended := w.ended
	w.ended = make(map[string]struct{})
	w.mu.Unlock()
	if len(ended) == 0 {
		return
	}
	reap(func(dir string) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		_, ok := ended[dir]
		return ok && w.dirs[dir] == 0 // a folder may be used again
	})
}

// spentBy is the processor time of all running tasks, with what they started.
func (w *watcher) spentBy() (sum time.Duration) {
	w.mu.Lock()
	tasks := slices.Collect(maps.Values(w.tasks))
	w.mu.Unlock()
	sessions := make(map[int]bool)
	for _, t := range tasks {
		if !w.boxes {
			sessions[t.pid] = true
			for _, pid := range t.beside.sessions() {
				sessions[pid] = true
			}
			continue
		}
		t.view.tryLook(func(root string, pids []int) {
			var all time.Duration
			for _, pid := range pids {
				all += spent(root, pid)
			}
			t.spent.Store(int64(all))
		})
		sum += time.Duration(t.spent.Load()) // of the time before, if the box is being looked at
	}
	if len(sessions) > 0 {
		eachProcess(func(pid int) {
			if s, err := unix.Getsid(pid); err == nil && sessions[s] {
				sum += spent("/proc", pid)
			}
		})
	}
	return sum
}

// looker is a group that can be looked into from outside.
type looker interface {
	Look() (proc, shm *os.File, ipc [3]*os.File, err error)
}
