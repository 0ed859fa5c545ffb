//go:build linux && !amd64

package main

import "golang.org/x/sys/unix"

// Other processors have no calls of other kinds, and no ports.

func abi32() error { return unix.ENOSYS }

func abi32x() error { return unix.ENOSYS }

func iopl() error { return unix.ENOSYS }

func rawChmod(path, mode uintptr) error {
	return number(unix.SYS_FCHMODAT, ^uintptr(99), path, mode, 0)
}

func rawOpen(path, flags, mode uintptr) error {
	return number(unix.SYS_OPENAT, ^uintptr(99), path, flags, mode)
}

func rawCreat(path, mode uintptr) error {
	return number(unix.SYS_OPENAT, ^uintptr(99), path, unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, mode)
}

func rawMknod(path, mode uintptr) error { return number(unix.SYS_MKNODAT, ^uintptr(99), path, mode, 0) }
