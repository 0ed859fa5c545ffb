package api

import "golang.org/x/sys/unix"

// credential asks the kernel for the user at the other end of a socket.
func credential(fd int) (uid uint32, ok bool) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, false
	}
	return cred.Uid, true
}
