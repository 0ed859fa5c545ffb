//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/progress"
	"skep/exec/terminal"
)

const (
	copySize = 64 << 10

	// maxLeft bounds what is taken of an output whose end is no longer waited for: more than a pipe or a terminal holds.
	maxLeft = 4 << 20
)

// drained is how long the end of the output of a task is waited for that has ended: somebody who left its group may
// hold it open. A variable for tests.
var drained = time.Second

// stdin is the descriptor that a task gets as its standard input.
func (r *Runner) stdin(s *Spec) int {
	if s.Stdin == nil {
		return r.null
	}
	return int(s.Stdin.Fd()) // which makes a pipe's end block, as programs expect
}

// InputPipe makes a pipe for the standard input of the attempt in a folder: its end that the task reads, which belongs
// to the task's user, or it could not open /dev/stdin, and the node's end, whose writes have deadlines.
func (r *Runner) InputPipe(dir string) (read, write *os.File, err error) {
	if read, write, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	enlarge(write)
	if to := r.Owner(dir); to.UID != 0 {
		err = read.Chown(int(to.UID), int(to.GID))
	}
	if err != nil {
		closeAll([]*os.File{read, write})
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	return read, write, nil
}

// openProgress opens the FIFO of an attempt; nil if its task is not asked for its progress, or has none.
func openProgress(s *Spec) *progress.Pipe {
	if s.Progress == nil {
		return nil
	}
	pipe, err := progress.Open(filepath.Join(s.Dir, tempName))
	if err != nil { // a file system without FIFOs: the task runs all the same
		return nil
	}
	return pipe
}

// copy moves an output to its file, until its end or, once drain waits for it no longer, until nothing is there. It has
// a buffer only while there is something to move.
func (p *Process) copy(i int, f *os.File, copied chan<- struct{}) {
	defer func() { copied <- struct{}{} }()
	if f != p.terminal { // which may be opened again, and whose end would be a signal to the task
		defer f.Close()
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	ended := false
	for err = nil; err == nil && !ended; {
		err = conn.Read(func(fd uintptr) bool {
			moved, err := p.move(i, fd)
			ended = !moved && err != unix.EAGAIN && err != unix.EINTR
			return moved || ended
		})
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		for range maxLeft / copySize {
			if moved, err := p.move(i, fd); !moved && err != unix.EINTR {
				return
			}
		}
	})
}

// move moves what there is of an output, at most copySize.
func (p *Process) move(i int, fd uintptr) (moved bool, err error) {
	b := buffers.Get().(*[copySize]byte)
	defer buffers.Put(b)
	n, err := terminal.Read(func() (int, error) { return unix.Read(int(fd), b[:]) })
	if n > 0 {
		p.out[i].write(b[:n])
	}
	return n > 0, err
}

var buffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// drain waits for the last of the output.
func (p *Process) drain(read [2]*os.File, copied <-chan struct{}) {
	limit := time.After(drained)
	for range read {
		select {
		case <-copied:
		case <-limit:
			for _, f := range read {
				if f != nil {
					_ = f.SetReadDeadline(time.Unix(1, 0)) // of one that is closed already nothing is waited for
				}
			}
			<-copied
		}
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
