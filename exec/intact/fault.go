package intact

import (
	"errors"
	"syscall"
)

// faults are errors of a file system that say nothing about who asked: no space or no files left on it or for its user,
// a device that fails or is gone, one that became read-only, no descriptors left on the machine.
var faults = [...]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ENXIO, syscall.ENODEV,
	syscall.EROFS, syscall.ESTALE, syscall.ENFILE, syscall.EMFILE}

// Fault reports whether an error of using a file is a fault of the machine, or of somebody who took the file away:
// another machine may do better.
func Fault(err error) bool {
	if errors.Is(err, ErrTaken) {
		return true
	}
	for _, f := range faults {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}
