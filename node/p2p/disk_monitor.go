package p2p

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Intervals and bounds of watching the disk.
const (
	diskCheckInterval = 10 * time.Second      // between two checks by the loop, while it has events
	minDiskPause      = 50 * time.Millisecond // between two checks while tasks run and little is free
	maxDiskPause      = 2 * time.Second       // while much is free, or nothing runs
	measureInterval   = time.Second           // least time between two measurements of the folders of tasks
	assumedWriteRate  = 2 * grid.GiB          // assumed most that is written in a second, for the pause until the next check
	maxDiskFloor      = 512 * grid.MiB        // at most this is kept free by ending tasks
)

// diskMonitor ensures that tasks leave the node enough free disk space for its records, without which it ends: no
// bound of a file keeps many files, or many tasks, from filling the disk. It checks while tasks run, or while there
// is too little.
type diskMonitor struct {
	d        *Driver
	wakeup   chan struct{} // a task was added
	checkNow atomic.Bool   // the loop is to check now
	low      atomic.Bool   // the loop has found that there is too little

	measured measurement // used by run's goroutine only

	mu      sync.Mutex
	running map[*attempt]*taskUsage
}

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

func newDiskMonitor(d *Driver) *diskMonitor {
	return &diskMonitor{d: d, wakeup: make(chan struct{}, 1), running: make(map[*attempt]*taskUsage)}
}

// diskFloor is the free space reserved for records: below it, tasks are ended.
func (c *Config) diskFloor() grid.Bytes { return min(c.DiskLow/2, maxDiskFloor) }

// isLowDisk reports whether so little is free that the node takes no tasks; a low state ends only with a quarter
// more.
func (c *Config) isLowDisk(free grid.Bytes, was bool) bool {
	bound := c.DiskLow
	if was {
		bound += bound / 4
	}
	return free < bound
}

// add watches an attempt's folder until remove.
func (s *diskMonitor) add(a *attempt) {
	u := &taskUsage{maxBytes: s.d.cfg.diskBound(), maxFiles: s.d.cfg.Boxes.Files}
	if free := disk.FreeFiles(s.d.cfg.DataDir); free > 0 {
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

// run checks until the driver closes.
func (s *diskMonitor) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.d.ctx.Done():
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
	free, err := disk.Free(s.d.cfg.DataDir)
	if err != nil {
		return maxDiskPause
	}
	if was := s.low.Load(); s.d.cfg.isLowDisk(free, was) != was {
		s.checkNow.Store(true)
		s.d.loop.wake()
	}
	switch {
	case users == 0:
		return maxDiskPause
	case free < s.d.cfg.DiskLow:
		s.relieve(free)
		return minDiskPause
	}
	s.measureIfDue(free)
	more := free - s.d.cfg.DiskLow
	return min(max(time.Duration(float64(more)/float64(assumedWriteRate)*float64(time.Second)), minDiskPause), measureInterval)
}

// measureIfDue measures the folders of tasks if it is time, and ends the tasks that exceed their bounds. It reports
// whether it has measured.
func (s *diskMonitor) measureIfDue(free grid.Bytes) bool {
	began := now()
	if !s.measured.due(began, free, s.d.cfg.diskFloor()) {
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
		if p := s.d.tasks.processOf(a); p != nil {
			usage.Bytes += grid.Bytes(s.d.tasks.runner.Unlinked(p))
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
	s.measured = measurement{ended: now(), took: now().Sub(began), free: free}
	return true
}

func (s *diskMonitor) endTask(a *attempt, why string) {
	s.d.log.Warn("a task is ended", "task", a.id.Task.String(), "why", why)
	if p := s.d.tasks.processOf(a); p != nil {
		p.Full(why)
	}
}

// wake makes the loop turn.
func (l *loop) wake() {
	in := newInput()
	in.read = func(grid.Time) {}
	l.post(l.d.ctx, in)
}

// checkDisk tells the node when free space becomes low, and when there is enough again. It has no timer of its own:
// an idle node writes nothing. While tasks run, or there is little, diskMonitor triggers it. The first check
// follows the node's first event.
func (l *loop) checkDisk(at grid.Time) {
	space := l.d.diskMonitor
	if !l.started || l.lastDiskCheck != 0 && at.Sub(l.lastDiskCheck) < diskCheckInterval && !space.checkNow.Swap(false) {
		return
	}
	l.lastDiskCheck = at
	free, err := disk.Free(l.d.cfg.DataDir)
	if low := l.d.cfg.isLowDisk(free, l.lowDisk); err == nil && low != l.lowDisk {
		l.lowDisk = low
		space.low.Store(low)
		space.wake()
		l.d.log.Warn("free disk space", "low", low, "bytes", free)
		l.step(at, &grid.Event{Kind: grid.EvDisk, Low: low})
	}
}
