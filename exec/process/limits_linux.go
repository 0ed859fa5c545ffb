package process

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// setLimits sets the limits of a child that does not run yet. No core files: they would fill the disk.
func setLimits(pid int, s *Spec) error {
	if err := setLimit(pid, "core size", unix.RLIMIT_CORE, 0, 0); err != nil {
		return err
	}
	if s.MaxOpen > 0 {
		if err := setLimit(pid, "open files", unix.RLIMIT_NOFILE, s.MaxOpen, s.MaxOpen); err != nil {
			return err
		}
	}
	if s.MaxFile > 0 {
		if err := setLimit(pid, "file size", unix.RLIMIT_FSIZE, uint64(s.MaxFile), uint64(s.MaxFile)); err != nil {
			return err
		}
	}
	if s.Timeout > 0 {
		// Only a backstop, for a node that is itself stopped: a process on all cores until its time
		// limit must not meet it.
		most := float64(runtime.NumCPU()) * (s.Timeout + s.Grace + 2*time.Second).Seconds()
		if most < math.MaxUint32 {
			cpu := uint64(math.Ceil(most))
			return setLimit(pid, "CPU time", unix.RLIMIT_CPU, cpu, cpu+5)
		}
	}
	return nil
}

// setLimit sets one limit. Without privilege a hard limit cannot be raised: then it stays what it is.
func setLimit(pid int, what string, resource int, soft, hard uint64) error {
	lim := unix.Rlimit{Cur: soft, Max: hard}
	err := unix.Prlimit(pid, resource, &lim, nil)
	if err == unix.EPERM {
		var old unix.Rlimit
		if e := unix.Prlimit(pid, resource, nil, &old); e == nil {
			lim.Max = min(hard, old.Max)
			lim.Cur = min(soft, lim.Max)
			err = unix.Prlimit(pid, resource, &lim, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("limit %s: %w", what, err)
	}
	return nil
}

// as calls f with the real user and group of the tasks' user, on this thread only: prlimit wants
// them to match, or a capability that root in a container lacks. The effective ones stay root's.
func (a *account) as(f func() error) error {
	set := func(uid, gid uint32) error {
		const keep = ^uintptr(0)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), keep, keep); errno != 0 {
			return fmt.Errorf("take group of tasks: %w", errno)
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep); errno != 0 {
			return fmt.Errorf("take user of tasks: %w", errno)
		}
		return nil
	}
	uid, gid := uint32(unix.Getuid()), uint32(unix.Getgid())
	if err := set(a.uid, a.gid); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err // the thread ends with this
	}
	return set(uid, gid)
}
