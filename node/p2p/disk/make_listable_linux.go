package disk

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// makeListable lets this user list a folder of its own, and returns the former mode. It changes the mode by a
// descriptor of the folder, so that a link in its place is not followed.
func makeListable(parent int, name string) (before uint32, err error) {
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	before = st.Mode & 0o7777
	return before, unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), before|access)
}
