//go:build amd64 || arm64

package network

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
)

// Name is that of the device in the pod.
const Name = "skep0"

// Device is a TUN device in the network of a pod. Packets that are read are those that ranks here send to ranks
// elsewhere; what is written they receive. A read gives one packet, a write takes one.
type Device struct {
	file    *os.File
	conn    syscall.RawConn
	reading [offloadHeader]byte

	writing sync.Mutex
	header  [offloadHeader]byte // of the packet that is written
}

// Open makes the device in a pod, with the addresses of the ranks of this machine, and the route to all others. It ends
// with Close, or with the pod's last box.
func Open(pod *sandbox.Pod, local []int) (*Device, error) {
	tun, route, err := pod.OpenTUN()
	if err != nil {
		return nil, fmt.Errorf("virtual network: %w", err)
	}
	defer route.Close()
	// SetUp before the file is used: the poller of Go waits for a device that is attached already.
	fd := int(tun.Fd())
	err = attach(fd)
	if err == nil {
		err = setUp(int(route.Fd()), local)
	}
	var own int
	if err == nil {
		own, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	tun.Close()
	if err != nil {
		return nil, fmt.Errorf("virtual network: %w", err)
	}
	if err := unix.SetNonblock(own, true); err != nil {
		unix.Close(own)
		return nil, fmt.Errorf("virtual network: %w", err)
	}
	d := &Device{file: os.NewFile(uintptr(own), Name)}
	if d.conn, err = d.file.SyscallConn(); err != nil {
		d.Close()
		return nil, fmt.Errorf("virtual network: %w", err)
	}
	return d, nil
}

// attach makes the interface. It belongs to the network that the file was opened in.
func attach(fd int) error {
	ifr, err := unix.NewIfreq(Name)
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr); err != nil {
		return fmt.Errorf("make the device: %w", err)
	}
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, unix.TUN_F_CSUM); err != nil {
		return fmt.Errorf("leave checksums out: %w", err)
	}
	return nil
}

// setUp gives the interface its MTU and addresses, and the network its route.
func setUp(fd int, local []int) error {
	// What comes of each request the kernel answers before the send returns.
	timeout := unix.Timeval{Sec: 5}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return err
	}
	c := conn{fd: fd}
	index, err := c.indexOf(Name)
	if err != nil {
		return fmt.Errorf("find the device: %w", err)
	}
	if err := c.ask(bringUp(index, MTU)); err != nil {
		return fmt.Errorf("set up the device: %w", err)
	}
	for _, rank := range local {
		if err := c.ask(addAddress(index, Addr(rank))); err != nil {
			return fmt.Errorf("give the device the address of rank %d: %w", rank, err)
		}
	}
	if err := c.ask(addRoute(index, Addr(0))); err != nil {
		return fmt.Errorf("route the ranks to the device: %w", err)
	}
	return nil
}

// Read reads a packet. It is for one caller at a time.
func (d *Device) Read(b []byte) (n int, err error) {
	failed := d.conn.Read(func(fd uintptr) bool {
		n, err = both(unix.SYS_READV, fd, &d.reading, b)
		return err != unix.EAGAIN && err != unix.EINTR
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, fmt.Errorf("read from %s: %w", Name, err)
	}
	return max(n-offloadHeader, 0), nil
}

// Write writes a packet that Parse has accepted. The kernel drops what a full socket or a closed port does not take,
// as a network does.
func (d *Device) Write(b []byte) (n int, err error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	putOffload(&d.header, b)
	failed := d.conn.Write(func(fd uintptr) bool {
		n, err = both(unix.SYS_WRITEV, fd, &d.header, b)
		return err != unix.EAGAIN && err != unix.EINTR
	})
	if err == nil {
		err = failed
	}
	switch {
	case err == unix.EINVAL, err == unix.ENOBUFS, err == unix.ENOMEM:
		return 0, ErrDropped
	case err != nil:
		return 0, fmt.Errorf("write to %s: %w", Name, err)
	}
	return n - offloadHeader, nil
}

// Close takes the device away: the interface goes with its last descriptor.
func (d *Device) Close() error { return d.file.Close() }

// both reads or writes the note of the kernel and the packet. The descriptor does not block, and the kernel is done in
// some tens of microseconds: so the scheduler of Go is not told of the call. Told, it takes the processor away from a
// call of more than 20, and each packet would wait for one again.
func both(trap, fd uintptr, note *[offloadHeader]byte, packet []byte) (int, error) {
	v := [2]unix.Iovec{{Base: &note[0]}, {Base: unsafe.SliceData(packet)}}
	v[0].SetLen(len(note))
	v[1].SetLen(len(packet))
	n, _, errno := unix.RawSyscall(trap, fd, uintptr(unsafe.Pointer(&v)), uintptr(len(v)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
