package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// pages writes to each page.
func pages(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = byte(i>>12) | 1
	}
}

// touch maps n bytes and writes to each page.
func touch(n, fd, flags int) error {
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err == nil {
		pages(b)
	}
	return err
}

// fillFile writes n bytes, and leaves the file open.
func fillFile(f *os.File, n int) error {
	for block := make([]byte, 1<<20); n > 0; n -= len(block) {
		pages(block)
		if _, err := f.Write(block[:min(n, len(block))]); err != nil {
			return err
		}
	}
	kept = append(kept, f)
	return nil
}

// kept are files that stay open.
var kept []*os.File

func fillPath(path string, n int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return fillFile(f, n)
}

// fillPipes keeps bytes in pipes, which no process's memory shows.
func fillPipes(n int) error {
	var fds [2]int
	for block := make([]byte, 64<<10); n > 0; n -= len(block) {
		if err := unix.Pipe2(fds[:], unix.O_NONBLOCK); err != nil {
			return err
		}
		got, err := unix.Write(fds[1], block)
		if err != nil {
			return err
		}
		if got < len(block) {
			n += len(block) - got
		}
	}
	return nil
}

// fillSockets keeps bytes in the queues of sockets.
func fillSockets(n int) error {
	block := make([]byte, 64<<10)
	for n > 0 {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		for {
			got, err := unix.Write(fds[0], block)
			if err != nil {
				break
			}
			n -= got
		}
	}
	return nil
}

// mostProcesses bounds a fork bomb where nothing else does.
const mostProcesses = 600

// multiplies starts processes until it cannot.
func multiplies(w *world.World, attr *syscall.SysProcAttr) result {
	var some []*exec.Cmd
	defer func() {
		for _, cmd := range some {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}()
	for range min(mostProcesses, 2*w.Bounds.Processes+50) {
		cmd := exec.Command("/bin/sleep", "60")
		if _, err := os.Stat("/bin/sleep"); err != nil {
			cmd = exec.Command("/proc/self/exe", "linger", "bomb")
		}
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			return lost("%d are there, and then: %v", len(some), err)
		}
		some = append(some, cmd)
	}
	return won("%d processes", len(some))
}

// threads starts threads until it cannot; a Go program that gets none more ends.
func threads(w *world.World) result {
	var all sync.WaitGroup
	n := int(min(mostProcesses, 2*w.Bounds.Processes+50))
	hold := make(chan bool)
	for range n {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			all.Done()
			var t unix.Timespec
			unix.Nanosleep(&t, nil)
			<-hold
		}()
	}
	all.Wait()
	entries, err := os.ReadDir("/proc/self/task")
	if int64(len(entries)) <= w.Bounds.Processes {
		return lost("%d threads, %v", len(entries), err)
	}
	return won("%d threads", len(entries))
}

// manyFiles makes more files than it may have, and waits for the node to see it.
func manyFiles(w *world.World, kind string) result {
	n := int(3 * w.Bounds.Files)
	for i := range n {
		var err error
		switch name := "many-" + strconv.Itoa(i); kind {
		case "f":
			err = os.WriteFile(name, nil, 0o600)
		case "d":
			err = os.Mkdir(name, 0o700)
		case "l":
			err = os.Symlink(fmt.Sprint("nothing-", i), name)
		}
		if err != nil {
			return lost("%d are there, and then: %v", i, err)
		}
	}
	d := holdFiles(w)
	time.Sleep(d)
	return won("%d for %v", n, d)
}

// letGo fills a shared mapping and lets go of its pages: no process shows them any more, and the file has them.
func letGo(fd, n, flags int) error {
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|flags)
	if err != nil {
		return err
	}
	pages(b)
	return unix.Madvise(b, unix.MADV_DONTNEED)
}

// pageTables makes the kernel keep n bytes of page tables, for memory that is never written.
func pageTables(n int) error {
	const each = 2 << 20 // a page of the tables is for so much
	b, err := unix.Mmap(-1, 0, n/os.Getpagesize()*each, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	if err := unix.Madvise(b, unix.MADV_NOHUGEPAGE); err != nil {
		return err
	}
	sum := byte(0)
	for i := 0; i < len(b); i += each {
		sum += b[i]
	}
	if sum != 0 {
		return errors.New("the zero page is not zero")
	}
	return nil
}
