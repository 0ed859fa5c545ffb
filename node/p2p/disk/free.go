package disk

import (
	"golang.org/x/sys/unix"

	"skep/grid"
)

// Free returns the bytes that may still be written in a folder.
func Free(dir string) (grid.Bytes, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return grid.Bytes(st.Bavail) * grid.Bytes(st.Bsize), nil
}

// FreeFiles returns the number of files that may still be created in a folder; 0 where its file system does not
// count them.
func FreeFiles(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Ffree)
}
