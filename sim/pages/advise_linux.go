package pages

import (
	"bytes"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// room is how many bytes of address space may be taken: half of what this machine has; 0 where that is not known, or
// where address space that is not used is counted, so that taking it could end this process.
func room() int {
	var info unix.Sysinfo_t
	var space unix.Rlimit
	if unix.Sysinfo(&info) != nil || unix.Getrlimit(unix.RLIMIT_AS, &space) != nil || space.Cur != unix.RLIM_INFINITY {
		return 0
	}
	if mode, err := os.ReadFile("/proc/sys/vm/overcommit_memory"); err != nil || bytes.HasPrefix(mode, []byte("2")) {
		return 0
	}
	half := uint64(info.Totalram) * uint64(info.Unit) / 2
	return int(min(half, math.MaxInt/8)) // the last where addresses are short
}

// advise reports whether the system took the advice.
func advise(b []byte) bool { return unix.Madvise(b, unix.MADV_HUGEPAGE) == nil }
