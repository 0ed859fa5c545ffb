package p2p

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Bounds of the disk's room.
const (
	diskCheckInterval = 10 * time.Second      // between two looks of the loop, while there is something to do
	minDiskPause      = 50 * time.Millisecond // between two looks while tasks run and there is little
	maxDiskPause      = 2 * time.Second       // while there is much, or nothing runs
	measureInterval   = time.Second           // between two times that the folders of tasks are measured, at least
	assumedWriteRate  = 2 * grid.GiB          // written in a second at most, as far as the pause until the next look is concerned
	maxDiskFloor      = 512 * grid.MiB        // from less than that on no task is ended for want of room
)

// diskMonitor sees to it that tasks leave the node the room without which it cannot write its records, and ends: no file
// bound keeps many files, or many tasks, from filling the disk. It looks while tasks run, or while there is too little.
type diskMonitor struct {
	d        *Driver
	wakeup   chan struct{} // somebody has entered
	checkNow atomic.Bool   // the loop is to look now
	low      atomic.Bool   // the loop has seen that there is too little

	measured measurement // of run's goroutine

	mu      sync.Mutex
	running map[*attempt]*taskUsage
}

// measurement is when the folders were last measured, how long that took, and what was free before.
type measurement struct {
	ended grid.Time
	took  time.Duration
	free  grid.Bytes
}

// due reports whether they are to be measured again: that takes at most a tenth of the time, or as often as an eighth of
// the floor was written.
func (w *measurement) due(at grid.Time, free, floor grid.Bytes) bool {
	return w.ended == 0 || at.Sub(w.ended) >= max(10*w.took, measureInterval) || free+floor/8 <= w.free
}

// taskUsage is a running task.
type taskUsage struct {
	disk.Usage            // of its folder at the last look, and of files that it removed and keeps open
	maxBytes   grid.Bytes // bound
	maxFiles   int64      // bound
	wasClosed  bool       // at the look before, it had a folder that cannot be looked into
	stopped    bool       // for its folder: it goes next
}

// excess says by which bound a task has gone, if it has.
func (u *taskUsage) excess() string {
	switch {
	case u.maxBytes > 0 && u.Bytes > u.maxBytes:
		return fmt.Sprintf("its files have %d MiB, more than its bound of %d MiB", u.Bytes>>20, u.maxBytes>>20)
	case u.Files > u.maxFiles:
		return fmt.Sprintf("it has more files than its bound of %d", u.maxFiles)
	case u.Deep:
		return "its folders are nested more deeply than can be looked at"
	case u.Closed && u.wasClosed: // once may be just when the task changed the mode
		return "it has a folder that cannot be looked into"
	}
	return ""
}

func newDiskMonitor(d *Driver) *diskMonitor {
	return &diskMonitor{d: d, wakeup: make(chan struct{}, 1), running: make(map[*attempt]*taskUsage)}
}

// diskFloor is what is left free for records: less than that, and tasks are ended.
func (c *Config) diskFloor() grid.Bytes { return min(c.DiskLow/2, maxDiskFloor) }

// isLowDisk reports whether so little is free that nothing new is taken; it takes a quarter more to end what was so.
func (c *Config) isLowDisk(free grid.Bytes, was bool) bool {
	bound := c.DiskLow
	if was {
		bound += bound / 4
	}
	return free < bound
}

// add has an attempt's folder looked at until leave.
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

// run looks until the driver closes.
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

// check sees how much is free, has the loop look when that is too little or enough again, ends a task if need be, and
// returns when to look next; 0 is when somebody enters.
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

// measureIfDue measures the folders of tasks if it is time, and ends the tasks that are beyond their bounds. It reports whether it has.
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
		u.wasClosed = u.Usage.Closed
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

// checkDisk tells the node when free space gets low, and when there is plenty again. It has no timer of its own: an idle
// node writes nothing. While tasks run, or there is little, space raises the alarm. The first look follows the node's first event.
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
