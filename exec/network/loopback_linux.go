//go:build amd64 || arm64

package network

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
)

// Loopback is the network of a pod without a device: the addresses of ranks are on its loopback interface, those of
// ranks here from the beginning, and those of ranks elsewhere from the first listener that stands for one of them.
// Until then they are not reachable at all, or a connection to one would reach what listens here at all addresses.
type Loopback struct {
	pod   *sandbox.Pod
	proc  *os.File
	route *os.File
	conn  conn
	index uint32

	diag  *os.File // nil: the kernel does not tell of sockets so, and /proc is read
	socks conn

	local []int
	away  map[int]bool // ranks elsewhere whose addresses are there
}

// OpenLoopback sets the loopback interface of a pod up for the ranks of this machine. It is for one caller at a time,
// but for Dial. Close does not take the addresses away, which the pod does.
func OpenLoopback(pod *sandbox.Pod, local []int) (l *Loopback, err error) {
	l = &Loopback{pod: pod, local: local, away: map[int]bool{}}
	defer func() {
		if err != nil {
			l.Close()
			err = fmt.Errorf("ports of ranks: %w", err)
		}
	}()
	if l.proc, err = pod.Proc(); err != nil {
		return nil, err
	}
	if l.route, err = pod.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE); err != nil {
		return nil, err
	}
	l.conn = conn{fd: int(l.route.Fd())}
	timeout := unix.Timeval{Sec: 5}
	if err = unix.SetsockoptTimeval(l.conn.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return nil, err
	}
	if l.diag, err = pod.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG); err == nil {
		l.socks = conn{fd: int(l.diag.Fd())}
		unix.SetsockoptTimeval(l.socks.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout)
		if l.socks.eachListening(func(netip.AddrPort) {}) != nil { // it was built without inet_diag
			l.diag.Close()
			l.diag = nil
		}
	}
	if l.index, err = l.conn.indexOf("lo"); err != nil {
		return nil, fmt.Errorf("find the loopback interface: %w", err)
	}
	for _, rank := range local {
		if err = l.add(rank); err != nil {
			return nil, err
		}
	}
	_, err = l.Listening(nil)
	return l, err
}

// add gives the loopback interface the address of a rank.
func (l *Loopback) add(rank int) error {
	if err := l.conn.ask(addAddress(l.index, Addr(rank))); err != nil {
		return fmt.Errorf("give the loopback interface the address of rank %d: %w", rank, err)
	}
	return nil
}

// ErrAllAddresses is why no listener can stand for a rank elsewhere.
var ErrAllAddresses = errors.New("a rank here listens on the port at all addresses: want it to listen at its own only")

// backlog is how many connections may wait to be accepted; more are refused by the kernel for a moment.
const backlog = 256

// Listen listens in place of a rank elsewhere. atAll is what AtAll has returned of the job's ports.
func (l *Loopback) Listen(at Endpoint, atAll bool) (net.Listener, error) {
	if !l.away[at.Rank] {
		if atAll {
			return nil, ErrAllAddresses
		}
		if err := l.add(at.Rank); err != nil {
			return nil, err
		}
		l.away[at.Rank] = true
	}
	f, err := l.pod.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd := int(f.Fd())
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // connections of an earlier listener may be left
	if err == nil {
		err = unix.Bind(fd, sockaddr(at))
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return nil, ErrAllAddresses
	case err != nil:
		return nil, fmt.Errorf("listen in place of rank %d on port %d: %w", at.Rank, at.Port, err)
	}
	return net.FileListener(f)
}

func sockaddr(at Endpoint) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Addr: Addr(at.Rank).As4(), Port: int(at.Port)}
}

// dialTime bounds a connection to a process of this machine, whose kernel answers at once unless its queue is full.
const dialTime = 5 * time.Second

// Dial connects to a rank here, from the address of another one if that is there.
func (l *Loopback) Dial(from int, to Endpoint) (net.Conn, error) {
	f, err := l.pod.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd := int(f.Fd())
	unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	if err := unix.Bind(fd, sockaddr(Endpoint{Rank: from})); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return nil, err
	}
	if err = unix.Connect(fd, sockaddr(to)); err == unix.EINPROGRESS {
		err = await(fd)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to rank %d on port %d: %w", to.Rank, to.Port, err)
	}
	return net.FileConn(f)
}

// await returns when a socket is connected, or why it is not.
func await(fd int) error {
	for end := time.Now().Add(dialTime); ; {
		left := time.Until(end)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(left.Milliseconds())+1)
		switch {
		case err == unix.EINTR || err == nil && n == 0:
			continue
		case err != nil:
			return err
		}
		code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && code != 0 {
			err = unix.Errno(code)
		}
		return err
	}
}

// Listening returns on which of these ports ranks here listen, in order.
func (l *Loopback) Listening(declared []uint16) (found []Endpoint, err error) {
	err = l.each(func(at netip.AddrPort) {
		if !slices.Contains(declared, at.Port()) {
			return
		}
		for _, rank := range l.local {
			if at.Addr().IsUnspecified() || at.Addr() == Addr(rank) {
				found = append(found, Endpoint{rank, at.Port()})
			}
		}
	})
	slices.SortFunc(found, Endpoint.Compare)
	return slices.Compact(found), err
}

// AtAll reports whether something listens on one of these ports at all addresses.
func (l *Loopback) AtAll(declared []uint16) (found bool, err error) {
	err = l.each(func(at netip.AddrPort) {
		found = found || at.Addr().IsUnspecified() && slices.Contains(declared, at.Port())
	})
	return found, err
}

// maxTable bounds how much is read of a table: 150 bytes for each socket of the pod.
const maxTable = 16 << 20

func (l *Loopback) each(visit func(netip.AddrPort)) error {
	if l.diag != nil {
		if err := l.socks.eachListening(visit); err != nil {
			return fmt.Errorf("see what listens: %w", err)
		}
		return nil
	}
	for _, name := range [...]string{"1/net/tcp", "1/net/tcp6"} {
		fd, err := unix.Openat(int(l.proc.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT && name == "1/net/tcp6" { // a kernel without IPv6
			continue
		}
		if err != nil {
			return fmt.Errorf("see what listens: open %s: %w", name, err)
		}
		f := os.NewFile(uintptr(fd), name)
		b, err := io.ReadAll(io.LimitReader(f, maxTable))
		f.Close()
		if err != nil {
			return fmt.Errorf("see what listens: %w", err)
		}
		eachListener(b, visit)
	}
	return nil
}

// Close closes what it holds of the pod.
func (l *Loopback) Close() error {
	for _, f := range []*os.File{l.proc, l.route, l.diag} {
		if f != nil {
			f.Close()
		}
	}
	return nil
}
