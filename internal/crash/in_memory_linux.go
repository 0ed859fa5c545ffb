package crash

import (
	"os"

	"golang.org/x/sys/unix"
)

// InMemory has the temporary folders of this process's tests in memory, if there is room for them: tests that count on
// nothing of a disk wait for its syncs most of the time.
func InMemory() {
	const room = 1 << 30
	var fs unix.Statfs_t
	if unix.Statfs(memory, &fs) == nil && int64(fs.Bavail)*int64(fs.Bsize) >= room {
		os.Setenv("TMPDIR", memory)
	}
}
