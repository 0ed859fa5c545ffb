package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open makes a terminal of this machine: the end of whoever plays the terminal, whose reads and writes wait as
// goroutines do, and the program's end, which belongs to user and group id unless that is 0.
func Open(id uint32, s Size) (ours, theirs *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make terminal: open /dev/ptmx: %w", err)
	}
	ours = os.NewFile(uintptr(fd), "terminal")
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		theirs, err = peer(fd)
	}
	if err == nil {
		err = Set(ours, s)
	}
	if err == nil && id != 0 {
		err = theirs.Chown(int(id), int(id))
	}
	if err != nil {
		ours.Close()
		if theirs != nil {
			theirs.Close()
		}
		return nil, nil, fmt.Errorf("make terminal: %w", err)
	}
	return ours, theirs, nil
}

// peer opens the other end without its path, which may be that of another mount.
func peer(fd int) (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return nil, errno
	}
	return os.NewFile(n, "terminal"), nil
}
