package main

import (
	"errors"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// memoryFills are ways to hold n bytes of memory.
var memoryFills = map[string]func(n int) error{
	"private": func(n int) error { return touch(n, -1, unix.MAP_PRIVATE|unix.MAP_ANON) },
	"shared":  func(n int) error { return touch(n, -1, unix.MAP_SHARED|unix.MAP_ANON) },
	"memfd": func(n int) error {
		fd, err := unix.MemfdCreate("m", 0)
		return errors.Join(err, fillFile(os.NewFile(uintptr(fd), "memfd"), n))
	},
	"memfd-undumpable": func(n int) error { // whose descriptors only root may list
		fd, err := unix.MemfdCreate("m", 0)
		return errors.Join(err, unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0), fillFile(os.NewFile(uintptr(fd), "memfd"), n))
	},
	"memfd-thread": func(n int) error { // in a table of descriptors that one thread has
		done := make(chan error)
		fill := func() error {
			err := unix.Unshare(unix.CLONE_FILES)
			if err != nil {
				return err
			}
			fd, err := unix.MemfdCreate("m", 0)
			return errors.Join(err, fillFile(os.NewFile(uintptr(fd), "memfd"), n))
		}
		if runtime.LockOSThread(); unix.Gettid() != unix.Getpid() {
			return fill()
		}
		go func() {
			runtime.LockOSThread() // this one is not the first
			done <- fill()
			select {}
		}()
		return <-done
	},
	"memfd-unseen": func(n int) error { // held by a descriptor that is in flight
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		fd, err := unix.MemfdCreate("m", 0)
		if err == nil {
			err = fillFile(os.NewFile(uintptr(fd), "memfd"), n)
		}
		if err == nil {
			err = unix.Sendmsg(fds[0], []byte("x"), unix.UnixRights(fd), nil, 0)
		}
		unix.Close(fd)
		return err
	},
	"memfd-page": func(n int) error { // one page of it is mapped, and none in use
		fd, err := unix.MemfdCreate("m", 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), "memfd")
		b, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			err = fillFile(f, n)
		}
		f.Close()
		return errors.Join(err, unix.Mprotect(b, unix.PROT_READ))
	},
	"shared-dropped": func(n int) error { // its pages stay, and no process has them
		for ; n > 0; n -= 1 << 20 {
			b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
			if err != nil {
				return err
			}
			pages(b)
			if err := unix.Madvise(b, unix.MADV_DONTNEED); err != nil {
				return err
			}
		}
		return nil
	},
	"dev-shm": func(n int) error { return fillPath("/dev/shm/fill", n) },
	"dev-shm-unlinked": func(n int) error {
		f, err := os.OpenFile("/dev/shm/fill", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		os.Remove("/dev/shm/fill")
		return fillFile(f, n)
	},
	"system-v": func(n int) error {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, n, unix.IPC_CREAT|0o600)
		if err != nil {
			return err
		}
		b, err := unix.SysvShmAttach(id, 0, 0)
		if err == nil {
			pages(b)
		}
		unix.SysvShmDetach(b)
		time.AfterFunc(holdTime, func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		return err
	},
	"shared-untouched": func(n int) error { return letGo(-1, n, unix.MAP_ANON) },
	"memfd-mapped": func(n int) error {
		fd, err := unix.MemfdCreate("m", 0)
		if err == nil {
			err = unix.Ftruncate(fd, int64(n))
		}
		if err == nil {
			err = letGo(fd, n, 0)
		}
		unix.Close(fd)
		return err
	},
	"memfd-behind": func(n int) error { // many other descriptors
		for range 5000 {
			if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
				return err
			}
		}
		fd, err := unix.MemfdCreate("m", 0)
		return errors.Join(err, fillFile(os.NewFile(uintptr(fd), "memfd"), n))
	},
	"page-tables": pageTables,
	"leader-ended": func(n int) error { // what /proc/PID tells is that of the main thread
		if err := endMainThread(); err != nil {
			return err
		}
		return touch(n, -1, unix.MAP_PRIVATE|unix.MAP_ANON)
	},
	"pipes":   fillPipes,
	"sockets": fillSockets,
}

// endMainThread ends the first thread of this process, which lives on in the others.
func endMainThread() error {
	found, hold := make(chan bool), make(chan bool)
	defer close(hold)
	for range 100 {
		go func() {
			runtime.LockOSThread()
			if unix.Gettid() == unix.Getpid() {
				found <- true
				unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			found <- false
			<-hold // or the next would have the same thread
		}()
		if <-found {
			return nil
		}
	}
	return errors.New("no goroutine was given the main thread")
}
