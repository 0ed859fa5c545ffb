//go:build unix

package suspend

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// Task is what can be stopped.
type Task interface {
	// Processes lists those that live, by process ID.
	Processes() ([]Process, error)

	// Signal sends a signal to one of them. One that has ended is no error.
	Signal(pid int, sig syscall.Signal) error
}

// Process is one process of a task.
type Process struct {
	PID     int
	Stopped bool // it does not run until somebody continues it
	Stuck   bool // in the kernel: it stops when that lets go of it
}

// maxPasses bounds the passes over a task that starts processes as fast as they are stopped.
const maxPasses = 200

// pause is between two passes, so that what was signalled is stopped.
const pause = time.Millisecond

// Errors of Stop. ErrRestless is that of a task of which new processes appear, or are continued, all the time.
var (
	ErrRestless = errors.New("suspend: processes of the task keep appearing, or going on")
	ErrQuit     = errors.New("suspend: given up, since the task is to end or to go on")
)

// Set is the processes of one task that were stopped here.
type Set struct {
	pids []int // in the order in which they were found
}

// Stop stops what runs of a task, parents first: a child that stops is then no news to a shell that watches its jobs.
// It returns when two passes one after the other have found the same processes and none that runs: also one that was
// stopped before, and that somebody has continued, is stopped again. It gives up when quit says so. After an error what
// was stopped is continued.
func (s *Set) Stop(t Task, quit func() bool) error {
	var before []Process
	for n := range maxPasses {
		if n > 0 {
			time.Sleep(pause)
		}
		if quit() {
			s.Continue(t)
			return ErrQuit
		}
		found, err := t.Processes()
		if err != nil {
			s.Continue(t)
			return fmt.Errorf("suspend: list processes of the task: %w", err)
		}
		calm := true
		for _, p := range found {
			known := slices.Contains(s.pids, p.PID)
			if p.Stopped || known && p.Stuck {
				continue
			}
			calm = false
			if err := t.Signal(p.PID, syscall.SIGSTOP); err != nil {
				s.Continue(t)
				return fmt.Errorf("suspend: stop process %d of the task: %w", p.PID, err)
			}
			if !known {
				s.pids = append(s.pids, p.PID)
			}
		}
		if calm && slices.EqualFunc(found, before, func(a, b Process) bool { return a.PID == b.PID }) {
			return nil
		}
		before = found
	}
	s.Continue(t)
	return ErrRestless
}

// Continue continues what Stop has stopped, children first. Errors are of processes that have ended.
func (s *Set) Continue(t Task) {
	for _, pid := range slices.Backward(s.pids) {
		t.Signal(pid, syscall.SIGCONT)
	}
	s.pids = nil
}
