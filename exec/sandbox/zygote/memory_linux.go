//go:build amd64 || arm64

package zygote

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// threadPointer is where the C library, if there is one, has what belongs to this thread. The kernel looks there for
// restartable sequences, in a child too.
func threadPointer() uintptr

// threadMemory is more than it has on either side.
const threadMemory = 64 << 10

// forkLittle keeps what a fork has to copy small: of the memory that this process has written, the global variables
// alone [2]. The heap is not there in a child, so whatever is in it no box can come by.
func forkLittle() error {
	debug.FreeOSMemory()
	for try := 0; ; try++ {
		err := keepMemoryFromForks()
		if try == memoryTries || !errors.Is(err, unix.ENOMEM) {
			return err
		}
	}
}

// memoryTries is how often that is repeated while other threads of the C library or the runtime unmap what was just
// listed.
const memoryTries = 10

func keepMemoryFromForks() error {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("look at own memory: %w", err)
	}
	defer maps.Close()
	globals := uintptr(unsafe.Pointer(&request))
	thread := threadPointer() &^ (threadMemory - 1)
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uintptr
		f := strings.Fields(lines.Text())
		if len(f) < 5 || len(f) > 5 && !strings.HasPrefix(f[5], "[anon") { // of a file, or the kernel's
			continue
		}
		if _, err := fmt.Sscanf(f[0], "%x-%x", &from, &to); err != nil {
			return fmt.Errorf("own memory %q: %w", f[0], err)
		}
		if from <= globals && globals < to {
			continue
		}
		below, above := min(to, thread-threadMemory), max(from, thread+2*threadMemory)
		if err := errors.Join(keepFromForks(from, below), keepFromForks(above, to)); err != nil {
			return fmt.Errorf("keep memory %s from forks: %w", f[0], err)
		}
	}
	return lines.Err()
}

func keepFromForks(from, to uintptr) error {
	if from >= to {
		return nil
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTFORK); errno != 0 {
		return errno
	}
	return nil
}
