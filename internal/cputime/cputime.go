package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Used returns the CPU time that this process has used so far, in user mode and in the kernel.
func Used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("cputime: getrusage refuses its own arguments: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
