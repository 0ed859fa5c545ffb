//go:build unix

package progress

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// Name is that of the FIFO in a task's folder of temporary files, where no pattern of outputs finds it.
const Name = ".skep-progress"

// Variable is the variable in which the task finds its path.
const Variable = "SKEP_PROGRESS"

// Make makes the FIFO in the folder of temporary files of an attempt, for its user and group; 0 is the node's. One that
// is there already stays.
func Make(dir string, user, group uint32) error {
	path := filepath.Join(dir, Name)
	if err := unix.Mkfifo(path, 0o600); err != nil && err != unix.EEXIST {
		return &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	return Give(dir, user, group)
}

// Give gives the FIFO in the folder of temporary files of an attempt to its user and group; 0 is the node's.
func Give(dir string, user, group uint32) error {
	if user == 0 {
		return nil
	}
	return os.Lchown(filepath.Join(dir, Name), int(user), int(group))
}

// Pipe is the node's end of the FIFO of a task.
type Pipe struct {
	file *os.File
	tell func(grid.Progress)
	done sync.WaitGroup

	closed func([]uint64)
}

// Open opens the FIFO of an attempt that has not started.
func Open(dir string) (*Pipe, error) {
	path := filepath.Join(dir, Name)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		unix.Close(fd)
		return nil, fmt.Errorf("open %s: is no FIFO", path)
	}
	return &Pipe{file: os.NewFile(uintptr(fd), path)}, nil
}

// Follow calls tell with what the task says, until Close, on a goroutine of its own. While tell does not return, what
// is newer replaces what is older. It calls closed, which may be nil, with the checkpoints that the task says are
// closed, ascending, on another goroutine: while that does not return, the newest grid.MaxClosed are kept for it.
func (p *Pipe) Follow(tell func(grid.Progress), closed func(steps []uint64)) {
	p.tell, p.closed = tell, closed
	p.done.Go(p.read)
}

// Close ends the reading and returns when tell is called no more. Nothing of the task may be left: a program that still
// writes would be ended by SIGPIPE.
func (p *Pipe) Close() {
	p.file.Close()
	p.done.Wait()
}

// bufferSize is that of a pipe: one read empties it.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// read reads until the file is closed. It has a buffer only while there is something to read, and tells on a second
// goroutine, which there is only for a task that says something.
func (p *Pipe) read() {
	conn, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	var l lines
	var slot chan grid.Progress
	var steps chan []uint64
	defer func() {
		if slot != nil {
			close(slot)
		}
		if steps != nil {
			close(steps)
		}
	}()
	for {
		err := conn.Read(func(fd uintptr) (done bool) {
			b := buffers.Get().(*[bufferSize]byte)
			defer buffers.Put(b)
			n, err := unix.Read(int(fd), b[:])
			if n > 0 {
				l.add(time.Now(), b[:n])
			}
			return n > 0 || err != unix.EAGAIN
		})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		said, tell, next := l.due(time.Now())
		if closed, at := l.dueClosed(time.Now()); len(closed) > 0 && p.closed != nil {
			steps = p.tellClosed(steps, closed)
		} else if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
		if p.file.SetReadDeadline(next) != nil { // none if next is zero
			return
		}
		if !tell {
			continue
		}
		if slot == nil {
			slot = make(chan grid.Progress, 1)
			p.done.Go(func() {
				for x := range slot {
					p.tell(x)
				}
			})
		}
		select {
		case <-slot:
		default:
		}
		slot <- said
	}
}

// tellClosed passes checkpoints on, with those that were not taken yet. The first time it makes the channel and the
// goroutine that takes them.
func (p *Pipe) tellClosed(steps chan []uint64, closed []uint64) chan []uint64 {
	if steps == nil {
		steps = make(chan []uint64, 1)
		p.done.Go(func() {
			for x := range steps {
				p.closed(x)
			}
		})
	}
	select {
	case older := <-steps:
		closed = append(older, closed...)
		closed = closed[max(0, len(closed)-grid.MaxClosed):]
	default:
	}
	steps <- closed
	return steps
}
