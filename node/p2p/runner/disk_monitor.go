package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/disk"
)

// Intervals and bounds of watching the disk.
const (
	diskCheckInterval = 10 * time.Second      // between two checks by the loop, while it has events
	minDiskPause      = 50 * time.Millisecond // between two checks while tasks run and little is free
	maxDiskPause      = 2 * time.Second       // while much is free, or nothing runs
	measureInterval   = time.Second           // least time between two measurements of the folders of tasks
	// assumed most that is written in a second, for the pause until the next check
	assumedWriteRate = 2 * grid.GiB
	maxDiskFloor     = 512 * grid.MiB // at most this is kept free by ending tasks
)

// diskMonitor ensures that tasks leave the node enough free disk space for its records, without which it ends: no
// bound of a file keeps many files, or many tasks, from filling the disk. It checks while tasks run, or while there
// is too little.
type diskMonitor struct {
	cfg      *Config
	tasks    processes
	wakeup   chan struct{} // a task was added
	checkNow atomic.Bool   // the loop is to check now
	low      atomic.Bool   // check has found that there is too little

	lastCheck grid.Time // by the loop; used by its goroutine only

	measured measurement // used by run's goroutine only

	mu      sync.Mutex
	running map[*attempt]*taskUsage
}

// processes are the running tasks. Runner is.
type processes interface {
	processOf(*attempt) task // nil: not known yet
	unlinked(task) grid.Bytes
	written(task) (n grid.Bytes, known bool)
	boxed() bool // the processes of a task are known
}

func (r *Runner) unlinked(t task) grid.Bytes {
	p, ok := t.(*process.Process)
	if !ok {
		return 0
	}
	return grid.Bytes(r.processes.Unlinked(p))
}

func (r *Runner) written(t task) (grid.Bytes, bool) {
	p, ok := t.(*process.Process)
	if !ok {
		return 0, false
	}
	n, known := r.processes.Written(p)
	return grid.Bytes(n), known
}

func (r *Runner) boxed() bool { return r.processes.Boxed() }

// measurement records the last measurement of the folders: when it ended, how long it took, and what was free
// before.
type measurement struct {
	ended grid.Time
	took  time.Duration
	free  grid.Bytes
}

// due reports whether to measure again: measuring takes at most a tenth of the time, unless an eighth of the floor
// was written.
func (w *measurement) due(at grid.Time, free, floor grid.Bytes) bool {
	return w.ended == 0 || at.Sub(w.ended) >= max(10*w.took, measureInterval) || free+floor/8 <= w.free
}

// taskUsage is the disk usage of a running task.
type taskUsage struct {
	disk.Usage               // of its folder at the last measurement, and of files that it removed and keeps open
	maxBytes      grid.Bytes // bound
	maxFiles      int64      // bound
	wasUnreadable bool       // the measurement before found a folder that could not be read
	stopped       bool       // it is being ended for its usage
}

// excess says which bound a task has exceeded, if any.
func (u *taskUsage) excess() string {
	switch {
	case u.maxBytes > 0 && u.Bytes > u.maxBytes:
		return fmt.Sprintf("its files have %d MiB, more than its bound of %d MiB", u.Bytes>>20, u.maxBytes>>20)
	case u.Files > u.maxFiles:
		return fmt.Sprintf("it has more files than its bound of %d", u.maxFiles)
	case u.Deep:
		return "its folders are nested more deeply than can be looked at"
	case u.Unreadable && u.wasUnreadable: // once may be a chmod just under way
		return "it has a folder that cannot be looked into"
	}
	return ""
}

func newDiskMonitor(cfg *Config, tasks processes) *diskMonitor {
	return &diskMonitor{cfg: cfg, tasks: tasks, wakeup: make(chan struct{}, 1), running: make(map[*attempt]*taskUsage)}
}

// add watches an attempt's folder until remove.
func (s *diskMonitor) add(a *attempt) {
	u := &taskUsage{maxBytes: s.cfg.diskBound(), maxFiles: s.cfg.Boxes.Files}
	if free := disk.FreeFiles(s.cfg.DataDir); free > 0 {
		u.maxFiles = min(u.maxFiles, free/2)
	}
	s.mu.Lock()
	s.running[a] = u
	s.mu.Unlock()
	s.wake()
}

func (s *diskMonitor) remove(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, a)
}

func (s *diskMonitor) wake() {
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// run checks until ctx ends.
func (s *diskMonitor) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wakeup:
		case <-timer.C:
		}
		if pause := s.check(); pause > 0 {
			timer.Reset(pause)
		}
	}
}

// check reads the free space, makes the loop check when it crosses the bound, ends a task if need be, and returns
// when to check next; 0 = when a task is added.
func (s *diskMonitor) check() time.Duration {
	s.mu.Lock()
	users := len(s.running)
	s.mu.Unlock()
	if users == 0 && !s.low.Load() {
		return 0
	}
	free, err := disk.Free(s.cfg.DataDir)
	if err != nil {
		return maxDiskPause
	}
	if was := s.low.Load(); s.cfg.isLowDisk(free, was) != was {
		s.checkNow.Store(true)
		s.cfg.Loop.Wake()
	}
	switch {
	case users == 0:
		return maxDiskPause
	case free < s.cfg.DiskLow:
		s.relieve(free)
		return minDiskPause
	}
	s.measureIfDue(free)
	more := free - s.cfg.DiskLow
	return min(max(time.Duration(float64(more)/float64(assumedWriteRate)*float64(time.Second)), minDiskPause),
		measureInterval)
}

// measureIfDue measures the folders of tasks if it is time, and ends the tasks that exceed their bounds. It reports
// whether it has measured.
func (s *diskMonitor) measureIfDue(free grid.Bytes) bool {
	began := clock.Now()
	if !s.measured.due(began, free, s.cfg.diskFloor()) {
		return false
	}
	s.mu.Lock()
	folders := make(map[*attempt]*taskUsage, len(s.running))
	for a, u := range s.running {
		if !u.stopped {
			folders[a] = u
		}
	}
	s.mu.Unlock()
	for a, u := range folders {
		usage := disk.Used(a.dir, int(u.maxFiles)+1)
		if p := s.tasks.processOf(a); p != nil {
			usage.Bytes += s.tasks.unlinked(p)
		}
		s.mu.Lock()
		u.wasUnreadable = u.Usage.Unreadable
		u.Usage = usage
		why := u.excess()
		u.stopped = why != ""
		s.mu.Unlock()
		if why != "" {
			s.endTask(a, why)
		}
	}
	s.measured = measurement{ended: clock.Now(), took: clock.Now().Sub(began), free: free}
	return true
}

func (s *diskMonitor) endTask(a *attempt, why string) {
	s.cfg.Log.Warn("a task is ended", "task", a.id.Task.String(), "why", why)
	if p := s.tasks.processOf(a); p != nil {
		p.Full(why)
	}
}
