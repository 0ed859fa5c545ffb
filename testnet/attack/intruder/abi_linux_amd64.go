package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// int80 makes a system call of 32 bits without arguments.
func int80(nr uintptr) uintptr

// abi32 asks by a call of 32 bits for its process ID.
func abi32() error {
	signal.Ignore(syscall.SIGSYS)
	const getpid = 20
	if pid := int80(getpid); int(pid) != os.Getpid() {
		return errors.New("it is not answered")
	}
	return nil
}

// abi32x makes a call of the x32 kind: getpid is allowed to everybody, so if it is answered so are others.
func abi32x() error { return number(unix.SYS_GETPID|0x40000000, 0, 0, 0, 0) }

func iopl() error { return number(unix.SYS_IOPL, 3, 0, 0, 0) }

func rawChmod(path, mode uintptr) error { return number(unix.SYS_CHMOD, path, mode, 0, 0) }

func rawOpen(path, flags, mode uintptr) error { return number(unix.SYS_OPEN, path, flags, mode, 0) }

func rawCreat(path, mode uintptr) error { return number(unix.SYS_CREAT, path, mode, 0, 0) }

func rawMknod(path, mode uintptr) error { return number(unix.SYS_MKNOD, path, mode, 0, 0) }
