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
