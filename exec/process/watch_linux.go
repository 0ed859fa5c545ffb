package process

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watcher looks at the process table for all tasks at once while there are any: at what memory they
// hold, and at times for processes that outlived their task because they had left its group. A look
// at 300 processes takes 0.2 ms: only the session of each is asked for, and the size of those that
// belong to a task.
type watcher struct {
	mu      sync.Mutex
	idle    *sync.Cond
	tasks   map[int]*watched    // by session
	dirs    map[string]int      // folders of attempts that may have processes
	ended   map[string]struct{} // folders of attempts that ended since the last sweep
	running bool
	quit    chan struct{}
}

// watched is a task and what this look, or an earlier one, found about it.
type watched struct {
	*Process
	recheck time.Time // it may share much: leave it alone until then
	size    int64
	members []int
}

const (
	lookEvery  = 200 * time.Millisecond
	sweepEvery = 2 * time.Second

	// recheck is how long a task whose resident sizes add up to too much, but only because its
	// processes share memory, is left alone.
	recheck = time.Second
)

func (w *watcher) init() {
	w.idle = sync.NewCond(&w.mu)
	w.tasks = make(map[int]*watched)
	w.dirs = make(map[string]int)
	w.ended = make(map[string]struct{})
	w.quit = make(chan struct{})
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

func (w *watcher) add(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[p.pid] = &watched{Process: p}
	if !w.running {
		w.running = true
		go w.run()
	}
}

func (w *watcher) remove(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tasks, p.pid)
	w.ended[p.spec.Dir] = struct{}{}
}

// close sweeps a last time and waits for the goroutine; there are no tasks any more.
func (w *watcher) close() {
	close(w.quit)
	w.mu.Lock()
	for w.running {
		w.idle.Wait()
	}
	w.mu.Unlock()
	w.sweep()
}

// run ends when there is no task left and nothing to sweep: a node without tasks does nothing.
func (w *watcher) run() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	swept := time.Now()
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

// look adds up the memory of each task and stops those that hold too much.
func (w *watcher) look() {
	w.mu.Lock()
	tasks := maps.Clone(w.tasks)
	w.mu.Unlock()
	if len(tasks) == 0 {
		return
	}
	for _, t := range tasks {
		t.size, t.members = 0, t.members[:0]
	}
	eachProcess(func(pid int) {
		session, err := unix.Getsid(pid)
		if t := tasks[session]; err == nil && t != nil {
			t.size += resident(pid)
			t.members = append(t.members, pid)
		}
	})
	now := time.Now()
	for _, t := range tasks {
		limit := t.spec.Memory
		if limit > 0 && t.size > limit {
			if now.Before(t.recheck) {
				continue
			}
			if once, ok := shared(t.members); ok {
				t.size = min(t.size, once)
			}
			t.recheck = now.Add(recheck)
		}
		t.peak.Store(max(t.peak.Load(), t.size))
		if limit > 0 && t.size > limit {
			t.stop(MemoryExceeded)
		}
	}
}

// shared is the size of processes that may share pages, each page counted once.
func shared(pids []int) (sum int64, ok bool) {
	for _, pid := range pids {
		n, readable := proportional(pid)
		if !readable && resident(pid) > 0 {
			return 0, false
		}
		sum += n
	}
	return sum, true
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
