//go:build linux || darwin

package api

import "net"

// peerUID returns the user of the process that opened the other end of a unix socket.
func peerUID(conn net.Conn) (uid uint32, ok bool) {
	u, is := conn.(*net.UnixConn)
	if !is {
		return 0, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		uid, ok = credential(int(fd))
	})
	return uid, ok && err == nil
}
