package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Stream names one of the two outputs of a task.
type Stream uint8

const (
	Stdout Stream = iota
	Stderr
)

// sink keeps one output of a task in a file up to a bound, and tells readers that it grew. The task
// writes to a pipe and not to the file: only so is the bound real and harmless (a file limit would
// kill it), and `echo >/dev/stderr` does not truncate what was kept.
type sink struct {
	path string
	max  int64

	mu      sync.Mutex
	fd      int // of the file once it is created, until the end
	created bool
	size    int64
	dropped int64
	err     error
	midLine bool // what is kept does not end a line
	ended   bool
	grown   chan struct{} // closed at the next growth; nil while nobody waits
}

// create makes the file.
func (s *sink) create() {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC | unix.O_CLOEXEC | unix.O_NOFOLLOW
	fd, err := unix.Open(s.path, flags, 0o600)
	if err != nil {
		s.err, s.max = fmt.Errorf("keep output in %s: %w", s.path, err), 0
		return
	}
	s.fd, s.created = fd, true
}

// write keeps what fits and counts the rest. What a full disk does not take is dropped too, and err says so: that
// is not the task's fault.
func (s *sink) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(b)
}

// keep is write with mu held.
func (s *sink) keep(b []byte) {
	if !s.created && s.max > 0 {
		s.create()
	}
	keep := b[:min(int64(len(b)), s.max-s.size)]
	s.dropped += int64(len(b) - len(keep))
	for len(keep) > 0 {
		n, err := unix.Write(s.fd, keep)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			s.err = fmt.Errorf("keep output in %s: %w", s.path, err)
			s.dropped += int64(len(keep))
			s.max = s.size // no holes: after the first loss nothing more is kept
			break
		}
		s.size += int64(n)
		s.midLine = keep[n-1] != '\n'
		keep = keep[n:]
	}
	s.wake()
}

// note adds a line of the node's own, unless the output has ended.
func (s *sink) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.midLine {
		line = "\n" + line
	}
	s.keep([]byte(line + "\n"))
}

// Note adds a line of the node's to what the task prints to stderr, or on its terminal.
func (p *Process) Note(line string) {
	if p.spec.Terminal != nil {
		p.out[Stdout].note(line)
		return
	}
	p.out[Stderr].note(line)
}

func (s *sink) wake() {
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// close ends the output: readers see its end.
func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created && !s.ended {
		unix.Close(s.fd)
	}
	s.ended = true
	s.wake()
}

// more says how much there is and, if that is nothing beyond offset yet, what to wait for.
func (s *sink) more(offset int64) (size int64, ended bool, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size > offset || s.ended {
		return s.size, s.ended, nil
	}
	if s.grown == nil {
		s.grown = make(chan struct{})
	}
	return s.size, false, s.grown
}

// tail reads a file that still grows.
type tail struct {
	ctx    context.Context
	sink   *sink
	file   *os.File // nil as long as there is nothing to read
	offset int64
}

// Tail reads one output of the task from offset, waits for more at its end, and reports io.EOF once
// the task has ended and all was read. It may be called at any time, also after the end.
func (p *Process) Tail(ctx context.Context, s Stream, offset int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fmt.Errorf("process: follow output from %d", offset)
	}
	return &tail{ctx: ctx, sink: &p.out[s&1], offset: offset}, nil
}

func (t *tail) Read(b []byte) (int, error) {
	for len(b) > 0 {
		size, ended, wait := t.sink.more(t.offset)
		if wait != nil {
			select {
			case <-wait:
				continue
			case <-t.ctx.Done():
				return 0, t.ctx.Err()
			}
		}
		if size <= t.offset && ended {
			return 0, io.EOF
		}
		if t.file == nil {
			var err error
			if t.file, err = os.Open(t.sink.path); err != nil {
				return 0, fmt.Errorf("process: follow output: %w", err)
			}
		}
		n, err := t.file.ReadAt(b, t.offset)
		t.offset += int64(n)
		if n > 0 {
			return n, nil
		}
		if errors.Is(err, io.EOF) { // somebody else has cut the file
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	return 0, nil
}

func (t *tail) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
