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
	diskEvery = 10 * time.Second      // between two looks of the loop, while there is something to do
	spaceFast = 50 * time.Millisecond // between two looks while tasks run and there is little
	spaceSlow = 2 * time.Second       // while there is much, or nothing runs
	spaceWalk = time.Second           // between two times that the folders of tasks are measured, at least
	spaceRate = 2 * grid.GiB          // written in a second at most, as far as the pause until the next look is concerned
	mostFloor = 512 * grid.MiB        // from less than that on no task is ended for want of room
)

// space sees to it that tasks leave the node the room without which it cannot write its records, and ends: no file
// bound keeps many files, or many tasks, from filling the disk. It looks while tasks run, or while there is too little.
type space struct {
	d     *Driver
	begun chan struct{} // somebody has entered
	alarm atomic.Bool   // the loop is to look now
	short atomic.Bool   // the loop has seen that there is too little

	walk walk // of run's goroutine

	mu    sync.Mutex
	users map[*attempt]*user
}

// walk is when the folders were last measured, how long that took, and what was free before.
type walk struct {
	ended grid.Time
	took  time.Duration
	free  grid.Bytes
}

// due reports whether they are to be measured again: that takes at most a tenth of the time, or as often as an eighth of
// the floor was written.
func (w *walk) due(at grid.Time, free, floor grid.Bytes) bool {
	return w.ended == 0 || at.Sub(w.ended) >= max(10*w.took, spaceWalk) || free+floor/8 <= w.free
}

// user is a running task.
type user struct {
	disk.Usage            // of its folder at the last look, and of files that it removed and keeps open
	bytes      grid.Bytes // bound
	files      int64      // bound
	closed     bool       // at the look before, it had a folder that cannot be looked into
	stopped    bool       // for its folder: it goes next
}

// excess says by which bound a task has gone, if it has.
func (u *user) excess() string {
	switch {
	case u.bytes > 0 && u.Bytes > u.bytes:
		return fmt.Sprintf("its files have %d MiB, more than its bound of %d MiB", u.Bytes>>20, u.bytes>>20)
	case u.Files > u.files:
		return fmt.Sprintf("it has more files than its bound of %d", u.files)
	case u.Deep:
		return "its folders are nested more deeply than can be looked at"
	case u.Closed && u.closed: // once may be just when the task changed the mode
		return "it has a folder that cannot be looked into"
	}
	return ""
}

func newSpace(d *Driver) *space {
	return &space{d: d, begun: make(chan struct{}, 1), users: make(map[*attempt]*user)}
}

// floor is what is left free for records: less than that, and tasks are ended.
func (c *Config) floor() grid.Bytes { return min(c.DiskLow/2, mostFloor) }

// low reports whether so little is free that nothing new is taken; it takes a quarter more to end what was so.
func (c *Config) low(free grid.Bytes, was bool) bool {
	bound := c.DiskLow
	if was {
		bound += bound / 4
	}
	return free < bound
}

// enter has an attempt's folder looked at until leave.
func (s *space) enter(a *attempt) {
	u := &user{bytes: s.d.cfg.diskBound(), files: s.d.cfg.Boxes.Files}
	if free := disk.FreeFiles(s.d.cfg.DataDir); free > 0 {
		u.files = min(u.files, free/2)
	}
	s.mu.Lock()
	s.users[a] = u
	s.mu.Unlock()
	s.nudge()
}

func (s *space) leave(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.users, a)
}

func (s *space) nudge() {
	select {
	case s.begun <- struct{}{}:
	default:
	}
}

// run looks until the driver closes.
func (s *space) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.d.ctx.Done():
			return
		case <-s.begun:
		case <-timer.C:
		}
		if pause := s.look(); pause > 0 {
			timer.Reset(pause)
		}
	}
}

// look sees how much is free, has the loop look when that is too little or enough again, ends a task if need be, and
// returns when to look next; 0 is when somebody enters.
func (s *space) look() time.Duration {
	s.mu.Lock()
	users := len(s.users)
	s.mu.Unlock()
	if users == 0 && !s.short.Load() {
		return 0
	}
	free, err := disk.Free(s.d.cfg.DataDir)
	if err != nil {
		return spaceSlow
	}
	if was := s.short.Load(); s.d.cfg.low(free, was) != was {
		s.alarm.Store(true)
		s.d.loop.poke()
	}
	switch {
	case users == 0:
		return spaceSlow
	case free < s.d.cfg.DiskLow:
		s.relieve(free)
		return spaceFast
	}
	s.measureIfDue(free)
	more := free - s.d.cfg.DiskLow
	return min(max(time.Duration(float64(more)/float64(spaceRate)*float64(time.Second)), spaceFast), spaceWalk)
}

// measureIfDue measures the folders of tasks if it is time, and ends the tasks that are beyond their bounds. It reports whether it has.
func (s *space) measureIfDue(free grid.Bytes) bool {
	began := now()
	if !s.walk.due(began, free, s.d.cfg.floor()) {
		return false
	}
	s.mu.Lock()
	folders := make(map[*attempt]*user, len(s.users))
	for a, u := range s.users {
		if !u.stopped {
			folders[a] = u
		}
	}
	s.mu.Unlock()
	for a, u := range folders {
		usage := disk.Used(a.dir, int(u.files)+1)
		if p := s.d.tasks.processOf(a); p != nil {
			usage.Bytes += grid.Bytes(s.d.tasks.runner.Unlinked(p))
		}
		s.mu.Lock()
		u.closed = u.Usage.Closed
		u.Usage = usage
		why := u.excess()
		u.stopped = why != ""
		s.mu.Unlock()
		if why != "" {
			s.end(a, why)
		}
	}
	s.walk = walk{ended: now(), took: now().Sub(began), free: free}
	return true
}

func (s *space) end(a *attempt, why string) {
	s.d.log.Warn("a task is ended", "task", a.id.Task.String(), "why", why)
	if p := s.d.tasks.processOf(a); p != nil {
		p.Full(why)
	}
}

// poke makes the loop turn.
func (l *loop) poke() {
	in := newInput()
	in.read = func(grid.Time) {}
	l.post(l.d.ctx, in)
}

// lookAtDisk tells the node when free space gets low, and when there is plenty again. It has no timer of its own: an idle
// node writes nothing. While tasks run, or there is little, space raises the alarm. The first look follows the node's first event.
func (l *loop) lookAtDisk(at grid.Time) {
	space := l.d.space
	if !l.begun || l.disk != 0 && at.Sub(l.disk) < diskEvery && !space.alarm.Swap(false) {
		return
	}
	l.disk = at
	free, err := disk.Free(l.d.cfg.DataDir)
	if low := l.d.cfg.low(free, l.low); err == nil && low != l.low {
		l.low = low
		space.short.Store(low)
		space.nudge()
		l.d.log.Warn("free disk space", "low", low, "bytes", free)
		l.step(at, &grid.Event{Kind: grid.EvDisk, Low: low})
	}
}
