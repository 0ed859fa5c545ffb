//go:build amd64 || arm64

package zygote

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spawn makes a system call of the clone family, with a stack for the child. The child calls born.
func spawn(trap, a1, a2, a3, a4, a5, a6 uintptr) uintptr

// roles of a child; the parent sets role before it spawns, and waits for what shares its memory.
const (
	roleForker = iota + 1
	roleStub
	roleCommand
	roleJoiner
)

var role int

// born is where a child begins. It has the stack that it was given and no goroutine: what it calls may not grow the
// stack, allocate, or look at its goroutine. Functions for it are nosplit, and the linker checks that their frames fit.
// The link name tells readers of Go alone that it is called: assembly does.
//
//go:linkname born skep/exec/sandbox/zygote.born
//go:nosplit
//go:norace
func born() {
	switch role {
	case roleForker:
		forkerMain()
	case roleStub:
		stubMain()
	case roleCommand:
		commandMain()
	case roleJoiner:
		joinerMain()
	}
	exit(exitBroken)
}

// Children run on these stacks: the forker and, in its own memory, a stub on the one, a command until its exec on the
// other, since it shares the memory of whoever waits for it, as what forks a stub of a pod does.
const stackSize = 32 << 10

var (
	stubStack, commandStack [stackSize]byte
	noThread                [64]uint64 // what the thread pointer of a child points into: nothing that anybody looks at
)

// fork makes a copy of this process in namespaces of its own, which runs role. The cookie lets the filter of system
// calls tell it from a task that does the same.
//
//go:nosplit
//go:norace
func fork(flags uintptr) (pid int, errno syscall.Errno) {
	return clone(flags|uintptr(unix.SIGCHLD), unsafe.Pointer(&stubStack[stackSize-16]))
}

// vfork makes a child in the memory of this process, which waits until the child has executed a program or ended.
//
//go:nosplit
//go:norace
func vfork() (pid int, errno syscall.Errno) {
	return clone(unix.CLONE_VM|unix.CLONE_VFORK|uintptr(unix.SIGCHLD), unsafe.Pointer(&commandStack[stackSize-16]))
}

//go:nosplit
//go:norace
//go:nocheckptr
func clone(flags uintptr, stack unsafe.Pointer) (pid int, errno syscall.Errno) {
	thread := uintptr(unsafe.Pointer(&noThread[len(noThread)-1]))
	top := uintptr(stack) &^ 15
	var r uintptr
	if runtime.GOARCH == "arm64" { // which has the last two the other way round
		r = spawn(unix.SYS_CLONE, flags|unix.CLONE_SETTLS, top, 0, thread, 0, uintptr(cookie))
	} else {
		r = spawn(unix.SYS_CLONE, flags|unix.CLONE_SETTLS, top, 0, 0, thread, uintptr(cookie))
	}
	if n := int(r); n < 0 {
		return 0, syscall.Errno(-n)
	}
	return int(r), 0
}

// call makes a system call.
//
//go:nosplit
//go:norace
func call(trap, a, b, c, d, e uintptr) (uintptr, syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(trap, a, b, c, d, e, 0)
	return r, errno
}

// text is the address of a text that ends with a zero byte.
//
//go:nosplit
//go:norace
func text(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }

//go:nosplit
//go:norace
func exit(code uintptr) {
	for {
		call(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0)
	}
}
