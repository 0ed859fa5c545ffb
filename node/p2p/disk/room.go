package disk

import (
	"io/fs"
	"path/filepath"
	"syscall"

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

// Used returns the bytes of disk that a folder takes with all in it, of which it looks at most names. What goes away
// meanwhile, or cannot be looked at, does not count.
func Used(dir string, most int) (sum grid.Bytes) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if most--; most < 0 {
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += grid.Bytes(st.Blocks) * 512
			}
		}
		return nil
	})
	return sum
}
