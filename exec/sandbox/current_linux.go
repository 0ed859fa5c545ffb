//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// restartEvery bounds how often a zygote that has died is replaced.
const restartEvery = time.Second

// staleEvery is the time between two tries to replace a zygote that has an older /etc.
const staleEvery = time.Minute

// current returns the zygote: a new one if the last has died, or has an older copy of /etc than the machine.
func (s *Sandbox) current() (*forker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.forker
	alive := last != nil && last.alive()
	switch {
	case s.closed:
		return nil, ErrClosed
	case alive && !last.stuck.Load() && !(s.mode.boxes && s.etc.changed()) && !(s.stale && time.Now().After(s.retryAt)):
		return last, nil
	case !alive && time.Now().Before(s.retryAt):
		return nil, errors.New("what forks its box has died: tried again in a second")
	}
	err := s.restart()
	s.retryAt = time.Now().Add(restartEvery)
	switch {
	case err != nil && !alive:
		return nil, fmt.Errorf("start what forks its box: %w", err)
	case err != nil:
		s.retryAt = time.Now().Add(staleEvery)
		s.opts.Warn("tasks go on seeing /etc as it was: another zygote cannot be started", err)
	}
	s.stale = err != nil
	if alive && s.forker != last {
		s.former = append(slices.DeleteFunc(s.former, func(f *forker) bool { return !f.alive() }), last)
		last.retire()
	}
	return s.forker, nil
}

// etc notices that /etc has changed, of which the zygote has made a copy for tasks.
type etc struct {
	looked time.Time
	stamps [len(changing)]stamp
}

// etcEvery is the time between two looks.
const etcEvery = 2 * time.Second

// changing are files in /etc that machines change while they run.
var changing = [...]string{".", "resolv.conf", "hosts", "passwd", "group", "nsswitch.conf", "ld.so.cache", "localtime",
	"hostname"}

// stamp tells a file from what it was.
type stamp struct {
	size  int64
	inode uint64
	at    time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), at: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = st.Ino
	}
	return s
}

// changed reports whether it has since the last time that this was asked; the first time it has not.
func (e *etc) changed() bool {
	if time.Since(e.looked) < etcEvery {
		return false
	}
	first := e.looked.IsZero()
	e.looked = time.Now()
	before := e.stamps
	for i, name := range changing {
		e.stamps[i] = stamp{}
		if info, err := os.Stat(filepath.Join("/etc", name)); err == nil {
			e.stamps[i] = stampOf(info)
		}
	}
	return !first && e.stamps != before
}
