//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"slices"
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
