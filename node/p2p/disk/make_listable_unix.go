//go:build unix && !linux

package disk

import "golang.org/x/sys/unix"

// makeListable lets this user list a folder of its own, and returns the former mode.
func makeListable(parent int, name string) (before uint32, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, err
	}
	before = uint32(st.Mode) & 0o7777
	return before, unix.Fchmodat(parent, name, before|access, unix.AT_SYMLINK_NOFOLLOW)
}
