//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket carries messages and file descriptors between processes of this machine. Who waits for one waits as a
// goroutine does.
type socket struct {
	file *os.File
	conn syscall.RawConn
}

// socketpair makes the two ends of one; the second is for another process.
func socketpair() (*socket, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket: %w", err)
	}
	other := os.NewFile(uintptr(fds[1]), "socket")
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		other.Close()
		return nil, nil, fmt.Errorf("make socket: %w", err)
	}
	s := &socket{file: os.NewFile(uintptr(fds[0]), "socket")}
	if s.conn, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
		other.Close()
		return nil, nil, fmt.Errorf("make socket: %w", err)
	}
	return s, other, nil
}

// send sends a message and copies of descriptors. Who does not receive for askTime is given up.
func (s *socket) send(b []byte, fds []int) error {
	s.file.SetWriteDeadline(time.Now().Add(askTime))
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	var sent error
	err := s.conn.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), b, rights, nil, unix.MSG_NOSIGNAL)
		return sent != unix.EAGAIN && sent != unix.EINTR
	})
	if err == nil {
		err = sent
	}
	return err
}

// receive takes a message, and the descriptors that came with it into files, the end being io.EOF.
func (s *socket) receive(b []byte, files []*os.File) (n, came int, err error) {
	var rights []byte
	if len(files) > 0 {
		rights = make([]byte, unix.CmsgSpace(4*len(files)))
	}
	var got error
	var length int
	err = s.conn.Read(func(fd uintptr) bool {
		n, length, _, _, got = unix.Recvmsg(int(fd), b, rights, unix.MSG_CMSG_CLOEXEC)
		if got == unix.ECONNRESET { // told once, and before what it has sent, of one that ended without reading all
			n, length, _, _, got = unix.Recvmsg(int(fd), b, rights, unix.MSG_CMSG_CLOEXEC)
		}
		return got != unix.EAGAIN && got != unix.EINTR
	})
	if err == nil {
		err = got
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil || length == 0 {
		return max(n, 0), 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:length])
	if err != nil {
		return n, 0, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return n, came, err
		}
		for _, fd := range fds {
			files[came] = os.NewFile(uintptr(fd), "received")
			came++
		}
	}
	return n, came, nil
}

// shut ends the socket for both sides: who waits for a message gets the end.
func (s *socket) shut() {
	s.conn.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RDWR) })
}

func (s *socket) close() { s.file.Close() }
