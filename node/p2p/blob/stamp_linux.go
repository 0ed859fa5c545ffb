package blob

import (
	"os"
	"syscall"
	"time"
)

// statusOf returns a file's inode number and the time of its last status change, which programs cannot set.
func statusOf(info os.FileInfo) (inode int64, status time.Time) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Ino), time.Unix(st.Ctim.Unix())
	}
	return 0, time.Time{}
}
