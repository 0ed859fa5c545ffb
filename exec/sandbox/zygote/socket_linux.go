//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// control is a control message with room for descriptors, as struct cmsghdr begins one.
type control struct {
	length      uint64
	level, kind int32
	fds         [maxFds]int32
}

const controlHead = 16

// header and span are a struct msghdr and a struct iovec, with addresses that are none to the garbage collector: a
// pointer may not be stored after a fork, which has no collector to tell of it.
type header struct {
	name, nameLength uintptr
	spans, spanned   uintptr
	control, length  uintptr
	flags            int32
}

type span struct{ base, length uintptr }

var (
	message   header
	vector    span
	ancillary control
)

// receive takes a request and its descriptors. It reports false when the other side is gone or did not send a request.
//
//go:nosplit
//go:norace
//go:nocheckptr
func receive(fd uintptr) bool {
	arrived = 0
	vector = span{uintptr(unsafe.Pointer(&request)), uintptr(len(request))}
	message = header{spans: uintptr(unsafe.Pointer(&vector)), spanned: 1,
		control: uintptr(unsafe.Pointer(&ancillary)), length: unsafe.Sizeof(ancillary)}
	n, errno := call(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&message)), unix.MSG_CMSG_CLOEXEC, 0, 0)
	for errno == syscall.EINTR {
		n, errno = call(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&message)), unix.MSG_CMSG_CLOEXEC, 0, 0)
	}
	if errno != 0 || n < unsafe.Sizeof(Request{}) || message.flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		return false
	}
	if message.length > controlHead && ancillary.level == unix.SOL_SOCKET && ancillary.kind == unix.SCM_RIGHTS {
		arrived = int(ancillary.length-controlHead) / 4
		for i := range arrived {
			received[i] = ancillary.fds[i]
		}
	}
	return uintptr(asked().Length) == n && request[n-1] == 0
}

// send sends the report.
//
//go:nosplit
//go:norace
//go:nocheckptr
func send(fd uintptr) {
	for {
		_, errno := call(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&report)), unsafe.Sizeof(report), unix.MSG_NOSIGNAL, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// answer sends the answer of a stub with the first n of the descriptors that it has found, and closes these.
//
//go:nosplit
//go:norace
func answer(errno syscall.Errno, n int) {
	if errno == 0 {
		tellFiles(ReportAnswer, n)
	} else {
		tell(ReportAnswer, 0, errno)
	}
	for i := range n {
		call(unix.SYS_CLOSE, uintptr(ancillary.fds[i&7]), 0, 0, 0, 0)
	}
}

// tellFiles sends the report with the first n of the descriptors in ancillary.
//
//go:nosplit
//go:norace
//go:nocheckptr
func tellFiles(kind ReportKind, n int) {
	if n == 0 {
		tell(kind, 0, 0)
		return
	}
	report.Kind, report.Stage, report.Errno = kind, 0, 0
	ancillary.length, ancillary.level, ancillary.kind = controlHead+uint64(n)*4, unix.SOL_SOCKET, unix.SCM_RIGHTS
	vector = span{uintptr(unsafe.Pointer(&report)), unsafe.Sizeof(report)}
	message = header{spans: uintptr(unsafe.Pointer(&vector)), spanned: 1,
		control: uintptr(unsafe.Pointer(&ancillary)), length: controlHead + uintptr(n*4+7)&^7}
	call(unix.SYS_SENDMSG, controlFd, uintptr(unsafe.Pointer(&message)), unix.MSG_NOSIGNAL, 0, 0)
}
