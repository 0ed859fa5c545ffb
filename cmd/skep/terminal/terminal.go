package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"skep/exec/session"
	"skep/exec/terminal"
)

// ErrNone is why -t is refused.
var ErrNone = errors.New("-t: the standard input is no terminal: want skep started at one, or -i in place of -t")

// Terminal is the terminal on the standard input.
type Terminal struct {
	in      *os.File
	ends    []os.Signal
	signals chan os.Signal
	resized chan terminal.Size
	over    chan struct{} // closed by Restore

	mu    sync.Mutex
	was   *term.State // before Take; nil = it was not taken
	given bool        // by Restore
}

// Open returns the terminal on a standard input, unchanged; ErrNone if that is none. While it is taken, the signals
// that are named give it back and then end this program as they do.
func Open(in *os.File, ends ...os.Signal) (*Terminal, error) {
	if in == nil || !term.IsTerminal(int(in.Fd())) {
		return nil, ErrNone
	}
	return &Terminal{in: in, ends: ends, signals: make(chan os.Signal, 4), resized: make(chan terminal.Size, 1),
		over: make(chan struct{})}, nil
}

// Size is the size of its window; zero if that is not known.
func (t *Terminal) Size() terminal.Size {
	cols, rows, err := term.GetSize(int(t.in.Fd()))
	if err != nil {
		return terminal.Size{}
	}
	return terminal.Size{Rows: uint16(rows), Cols: uint16(cols)}
}

// Resized tells the sizes of its window after Take, the newest alone.
func (t *Terminal) Resized() <-chan terminal.Size { return t.resized }

// Read reads what is typed.
func (t *Terminal) Read(b []byte) (int, error) { return t.in.Read(b) }

// Ends are the signals that end this program by themselves.
var Ends = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE}

// Take has it send each key as it is typed, and echo none, until Restore. A second call does nothing.
func (t *Terminal) Take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given {
		return errGiven
	}
	if t.was != nil {
		return nil
	}
	was, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("-t: take the terminal: %w", err)
	}
	t.was = was
	caught := []os.Signal{syscall.SIGWINCH}
	for _, s := range t.ends {
		if !signal.Ignored(s) { // as a hang-up below nohup, which is to end nothing
			caught = append(caught, s)
		}
	}
	signal.Notify(t.signals, caught...)
	go t.watch()
	return nil
}

var errGiven = errors.New("-t: the terminal was given back")

// Keys returns what is typed and the sizes of the window, as a task's terminal takes them (session.Typed). The first
// read takes the terminal, as Take, when the task runs: until then its keys have their meaning for this program.
func (t *Terminal) Keys() io.Reader { return &keys{t: t} }

// Screen returns a writer for what a task prints on its terminal. The first write takes this one, as Take: a task that
// prints runs, and its lines end as a terminal in its state shows them.
func (t *Terminal) Screen(to io.Writer) io.Writer { return &taking{t, to} }

type taking struct {
	t  *Terminal
	to io.Writer
}

// Write writes. What is printed after the terminal was given back is for its modes of before.
func (s *taking) Write(b []byte) (int, error) {
	if err := s.t.Take(); err != nil && !errors.Is(err, errGiven) {
		return 0, err
	}
	return s.to.Write(b)
}

type keys struct {
	t      *Terminal
	take   sync.Once
	failed error
	from   io.Reader
}

// Read reads frames.
func (k *keys) Read(b []byte) (int, error) {
	k.take.Do(func() {
		if k.failed = k.t.Take(); k.failed != nil {
			return
		}
		k.t.tell() // it may have changed since the job was submitted
		typing := session.Typing(k.t, k.t.resized)
		go func() {
			<-k.t.over
			typing.Close()
		}()
		k.from = typing
	})
	if k.failed != nil {
		return 0, k.failed
	}
	return k.from.Read(b)
}

// Restore gives it back as it was before Take, for good. It may be called more than once, and of none.
func (t *Terminal) Restore() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given {
		return
	}
	t.given = true
	if t.was != nil {
		term.Restore(int(t.in.Fd()), t.was)
		signal.Stop(t.signals)
	}
	close(t.over)
}

func (t *Terminal) watch() {
	for {
		select {
		case s := <-t.signals:
			if s == syscall.SIGWINCH {
				t.tell()
				continue
			}
			t.Restore()
			EndBy(s.(syscall.Signal))
		case <-t.over:
			return
		}
	}
}

// tell replaces a size that nobody has taken.
func (t *Terminal) tell() {
	select {
	case <-t.resized:
	default:
	}
	select {
	case t.resized <- t.Size():
	default: // somebody else has told it meanwhile
	}
}

// EndBy ends this program as the signal does that it got.
func EndBy(s syscall.Signal) {
	signal.Reset(s)
	syscall.Kill(os.Getpid(), s)
	select {}
}
