package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skep/grid"
)

// stdinWait is how long a task runs without the stream of its standard input, which its submitter opens when it is
// placed. Later it is stopped: whoever was to send it is gone, and the task might wait for ever. A variable for tests.
var stdinWait = 30 * time.Second

// stdinStream is the streamed standard input of an attempt. One stream at most brings it. It ends in order when that
// stream does, and is closed when the task reads no more. If it breaks off the task is stopped: it would take the end
// of the stream for that of the input.
type stdinStream struct {
	mu     sync.Mutex
	taken  bool        // a stream brings it, or has
	pipe   *os.File    // the node's end; nil before the start, and after the end of the input or the task
	task   task        // while it runs
	broken error       // why it broke off
	over   bool        // the task has ended
	timer  *time.Timer // stops a task that has no stream; nil before the start
	asked  time.Time   // when a stream was last refused for want of a place
	screen bool        // it is what is typed at the task's terminal, which has no end that is in order
}

// errStdinTaken reports a second stream for the same attempt.
var errStdinTaken = errors.New("its standard input is sent by another client already")

// take claims the right to bring the input.
func (s *stdinStream) take() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken {
		return errStdinTaken
	}
	s.taken = true
	return nil
}

// release undoes take: nothing was read.
func (s *stdinStream) release() {
	s.postpone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = false
	s.timer.Reset(stdinWait)
}

// postpone notes that who sends the input is there, and waits for a place.
func (s *stdinStream) postpone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = time.Now()
}

// breakOff stops the task, now or when it starts. After its end, or once its input has ended, it does nothing.
func (s *stdinStream) breakOff(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inputEnded := s.task != nil && s.pipe == nil && !s.screen
	if s.over || inputEnded || s.broken != nil {
		return
	}
	if s.broken = err; s.screen {
		s.broken = fmt.Errorf("its terminal was lost, so it was stopped: %w", errSenderGone)
	}
	if s.task != nil {
		s.task.Cancel()
	}
}

// setPipe sets the node's end of a new pipe, in place of that of a start that was too late.
func (s *stdinStream) setPipe(pipe *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipe != nil {
		s.pipe.Close()
	}
	s.pipe = pipe
}

// started tells of the process of the attempt, if it has a stream.
func (s *stdinStream) started(p task, spec *grid.JobSpec) {
	if spec.Stdin != grid.StdinStream {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen = spec.Terminal.On
	if s.task = p; s.broken != nil {
		p.Cancel()
	}
	wait := stdinWait
	s.timer = time.AfterFunc(wait, func() { s.expire(wait) })
}

// expire stops the task if no stream has brought it anything, nor asked for a place within the last wait.
func (s *stdinStream) expire(wait time.Duration) {
	s.mu.Lock()
	since := time.Since(s.asked)
	if !s.taken && !s.over && since < wait {
		s.timer.Reset(wait - since)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	if s.take() == nil {
		s.breakOff(fmt.Errorf("no standard input came in %v: who was to send it is gone", wait))
	}
}

// ended closes what is left after the task has ended, and returns why the input broke off, if it did before.
func (s *stdinStream) ended() error {
	s.setPipe(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over, s.task = true, nil
	return s.broken
}

// write is the node's end of the pipe; nil: the task has ended.
func (s *stdinStream) write() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pipe
}

// openStdin returns what an attempt reads as its standard input, to be closed once it has started; nil = nothing.
func (r *Runner) openStdin(a *attempt, spec *grid.JobSpec) (*os.File, error) {
	if spec.Terminal.On {
		return nil, nil
	}
	if spec.Stdin == grid.StdinStream {
		read, write, err := r.processes.InputPipe(a.dir)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		a.stdin.setPipe(write)
		return read, nil
	}
	in := spec.StdinFile()
	if in == nil {
		return nil, nil
	}
	f, err := r.openStdinFile(a, in)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return f, nil
}

// openStdinFile opens a copy of a blob: a task may change what it has open and is its user's. The copy has no name, so
// that what the task makes of it counts as its own, and is gone with it.
func (r *Runner) openStdinFile(a *attempt, in *grid.File) (*os.File, error) {
	ctx, cancel := r.inputsContext(a)
	defer cancel()
	name := filepath.Join(filepath.Dir(a.dir), filepath.Base(a.dir)+".stdin")
	if err := r.placeInput(ctx, in, name, a.id.Task.Job.Origin); err != nil {
		return nil, err
	}
	defer os.Remove(name)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if to := r.processes.Owner(a.dir); to.UID != 0 {
		err = f.Chown(int(to.UID), int(to.GID))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errSenderGone reports that the client that sent an input has gone away.
var errSenderGone = errors.New("who sent it is gone")

// stdinPiece is how much of a stream is held at a time: two messages of a peer.
const stdinPiece = 2 * stdinMessage

// copyStdin copies the input of a task to its pipe. io.EOF: all of it; errReaderGone: the task reads no more; any other
// error is that of the source.
func (s *stdinStream) copyStdin(from io.Reader) error {
	if p := s.terminal(); p != nil {
		return copyTyped(from, p)
	}
	err := copyPieces(from, func(b []byte) error {
		pipe := s.write()
		if pipe == nil {
			return errReaderGone
		}
		if _, err := pipe.Write(b); err != nil {
			return errReaderGone
		}
		return nil
	})
	if errors.Is(err, io.EOF) {
		s.setPipe(nil)
		return io.EOF
	}
	return err
}

// copyPieces calls write with each piece that it reads, and returns the first error of write or of from.
func copyPieces(from io.Reader, write func(b []byte) error) error {
	b := make([]byte, stdinPiece)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if err := write(b[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// errReaderGone reports that a task reads no more of its standard input.
var errReaderGone = errors.New("the task reads no more of its standard input")
