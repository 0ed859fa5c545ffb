//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"skep/exec/sandbox"
	"skep/exec/terminal"
)

// Command is a further command beside a task: in its box, as its user, in its work folder, with its environment and
// its bounds.
type Command struct {
	Argv []string
	Env  []string // "name=value", after that of the task

	// Terminal gives it a terminal of that size, and so one stream in place of stdin, stdout and stderr. nil: none.
	Terminal *terminal.Size
}

// ErrOver is the error of Exec for a task that has ended.
var ErrOver = errors.New("the task has ended")

// second is a further command as its box has it.
type second interface {
	Done() <-chan struct{}
	End() sandbox.End
	Signal(syscall.Signal) error
}

// Further is a further command that runs. It ends with its task at the latest. Close must follow its Wait.
type Further struct {
	of      second
	pid     int         // as that of a task
	files   [3]*os.File // the node's ends of its standard streams; of a terminal one, the first
	over    chan struct{}
	outlast bool // its task has ended first
	hangs   bool // in the kernel, though it was killed
}

// Terminal reports whether it has a terminal.
func (f *Further) Terminal() bool { return f.files[1] == nil }

// Input is its standard input, to be closed at the end; that of a terminal stays open.
func (f *Further) Input() io.WriteCloser {
	if f.Terminal() {
		return typing{f.files[0]}
	}
	return f.files[0]
}

// Stdout is what it prints there, or on its terminal.
func (f *Further) Stdout() io.Reader {
	if f.Terminal() {
		return screen{f.files[0]}
	}
	return f.files[1]
}

// Stderr is what it prints there. It has none with a terminal.
func (f *Further) Stderr() io.Reader { return f.files[2] }

// Resize sets the size of its terminal.
func (f *Further) Resize(s terminal.Size) error { return terminal.Set(f.files[0], s) }

// Kill kills it and what it has started that is in its process group.
func (f *Further) Kill() { f.of.Signal(syscall.SIGKILL) }

// Wait waits until it has ended, and returns its exit code as Result.Code does, and for people why it has ended if that
// was not its own doing. Some of its output may be left to read.
func (f *Further) Wait() (code int, why string) {
	<-f.over
	switch {
	case f.outlast:
		return 128 + int(syscall.SIGKILL), "the task has ended, and with it what ran in its box"
	case f.hangs:
		return 125, "it was killed and does not end"
	}
	end := f.of.End()
	switch {
	case end.Broken:
		return 125, "its box was lost: what keeps it was killed, as when memory runs out"
	case end.Status.Signaled():
		return 128 + int(end.Status.Signal()), ""
	}
	return end.Status.ExitStatus(), ""
}

// Close ends what still waits for its streams.
func (f *Further) Close() { closeAll(f.files[:]) }

// follow returns when it has ended; gone is closed when the task has.
func (f *Further) follow(gone <-chan struct{}) {
	defer close(f.over)
	select {
	case <-f.of.Done():
		return
	case <-gone:
	}
	f.outlast = true
	f.Kill()
	late := time.NewTimer(stuck)
	defer late.Stop()
	select {
	case <-f.of.Done():
	case <-late.C:
		f.hangs = true
	}
}

// typing writes to a terminal. The end of the input is none of the terminal, which has no other side to close.
type typing struct{ *os.File }

func (typing) Close() error { return nil }

// screen reads what programs print on a terminal. Its end is an error of the kernel's: all that had it open are gone.
type screen struct{ *os.File }

func (s screen) Read(b []byte) (int, error) {
	n, err := terminal.Read(func() (int, error) { return s.File.Read(b) })
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

// beside are the further commands of a task.
type beside struct {
	mu   sync.Mutex
	g    group // nil: the task has not started, or has ended
	all  map[*Further]struct{}
	wait sync.WaitGroup
}

func (b *beside) open(g group) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.g, b.all = g, make(map[*Further]struct{})
}

// begin calls start with what the task has started, unless the task has ended.
func (b *beside) begin(start func(group) (*Further, error)) (*Further, error) {
	b.mu.Lock()
	g := b.g
	if g != nil {
		b.wait.Add(1)
	}
	b.mu.Unlock()
	if g == nil {
		return nil, ErrOver
	}
	f, err := start(g)
	if err != nil {
		b.wait.Done()
		return nil, err
	}
	b.mu.Lock()
	b.all[f] = struct{}{}
	b.mu.Unlock()
	go func() {
		defer b.wait.Done()
		f.follow(g.Exited())
		b.mu.Lock()
		delete(b.all, f)
		b.mu.Unlock()
	}()
	return f, nil
}

// sessions are the process IDs of those that run now, each that of a session.
func (b *beside) sessions() (pids []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.all {
		pids = append(pids, f.pid)
	}
	return pids
}

// close waits for all, after the end of the task.
func (b *beside) close() {
	b.mu.Lock()
	b.g = nil
	b.mu.Unlock()
	b.wait.Wait()
}

// Exec runs a further command in the box of a task that runs; without boxes it is a process group of its own. An error
// of type *ExecError means that there is no such program, ErrOver that the task has ended. The caller bounds how many
// there are: a box takes sandbox.Seconds.
func (r *Runner) Exec(p *Process, c Command) (*Further, error) {
	spec := p.spec
	spec.Argv, spec.Env = c.Argv, append(append(make([]string, 0, len(spec.Env)+len(c.Env)), spec.Env...), c.Env...)
	if err := spec.check(); err != nil {
		return nil, err
	}
	spec.OwnProgram = false
	env := r.environ(&spec, false)
	path, err := r.program(&spec, env)
	if err != nil {
		return nil, err
	}
	return p.beside.begin(func(g group) (*Further, error) {
		f, err := r.second(g, &spec, path, env, c.Terminal)
		if err != nil && !errors.As(err, new(*ExecError)) {
			err = fmt.Errorf("process: start %s beside the task: %w", c.Argv[0], err)
		}
		return f, err
	})
}
