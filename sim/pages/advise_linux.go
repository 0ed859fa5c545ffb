package pages

import "golang.org/x/sys/unix"

// memory is how much this machine has, in bytes; 0 where that is not known.
func memory() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(uint64(info.Totalram) * uint64(info.Unit))
}

// advise reports whether the system took the advice.
func advise(b []byte) bool { return unix.Madvise(b, unix.MADV_HUGEPAGE) == nil }
