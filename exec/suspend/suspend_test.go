//go:build unix

package suspend

import (
	"errors"
	"slices"
	"syscall"
	"testing"
)

// fake is a task whose processes start others until they are stopped.
type fake struct {
	live    map[int]bool // and whether it is stopped
	forks   int          // left
	refuses int          // a process that cannot be signalled
	sent    []int        // process IDs in the order of signals, negative for SIGCONT
}

func (f *fake) Processes() (all []Process, err error) {
	for pid, stopped := range f.live {
		all = append(all, Process{PID: pid, Stopped: stopped})
	}
	slices.SortFunc(all, func(a, b Process) int { return a.PID - b.PID })
	if f.forks > 0 { // after it was looked at
		f.forks--
		f.live[100+len(f.live)] = false
	}
	return all, nil
}

func (f *fake) Signal(pid int, sig syscall.Signal) error {
	if pid == f.refuses {
		return syscall.EPERM
	}
	f.live[pid] = sig == syscall.SIGSTOP
	if sig == syscall.SIGCONT {
		pid = -pid
	}
	f.sent = append(f.sent, pid)
	return nil
}

func never() bool { return false }

// What somebody has continued meanwhile is stopped again, and goes on only once.
func TestWhatIsContinuedIsStoppedAgain(t *testing.T) {
	f := &fake{live: map[int]bool{5: false, 9: false}}
	var s Set
	s.Stop(f, never)
	f.live[9] = false
	if err := s.Stop(f, never); err != nil || !f.live[9] {
		t.Errorf("stopped %v, %v", f.live[9], err)
	}
	if s.Continue(f); len(f.sent) != 5 {
		t.Errorf("signals %v", f.sent)
	}
	if err := s.Stop(f, func() bool { return f.live[5] }); !errors.Is(err, ErrQuit) || f.live[5] || f.live[9] {
		t.Errorf("given up: %v, stopped %v", err, f.live)
	}
}

func TestOnlyWhatWasStoppedHereGoesOn(t *testing.T) {
	f := &fake{live: map[int]bool{5: false, 7: true, 9: false}, forks: 3}
	var s Set
	if err := s.Stop(f, never); err != nil {
		t.Fatal(err)
	}
	for pid, stopped := range f.live {
		if !stopped {
			t.Errorf("%d runs", pid)
		}
	}
	s.Continue(f)
	for pid, stopped := range f.live {
		if stopped != (pid == 7) {
			t.Errorf("%d stopped: %v; what had stopped itself is 7", pid, stopped)
		}
	}
	if want := []int{5, 9, 103, 104, 105, -105, -104, -103, -9, -5}; !slices.Equal(f.sent, want) {
		t.Errorf("signals %v, want %v: parents stop first, children go on first", f.sent, want)
	}
	if s.Continue(f); len(f.sent) != 10 {
		t.Error("it is continued twice")
	}
}

func TestNothingStaysStoppedAfterAnError(t *testing.T) {
	f := &fake{live: map[int]bool{5: false, 9: false}, refuses: 9}
	var s Set
	if err := s.Stop(f, never); !errors.Is(err, syscall.EPERM) {
		t.Errorf("error %v", err)
	}
	if f.live[5] {
		t.Error("5 stays stopped")
	}
	f = &fake{live: map[int]bool{5: false}, forks: 10 * maxPasses}
	if err := s.Stop(f, never); !errors.Is(err, ErrRestless) {
		t.Errorf("of a task that always starts others: %v", err)
	}
	for pid, stopped := range f.live {
		if stopped {
			t.Errorf("%d stays stopped", pid)
		}
	}
}
