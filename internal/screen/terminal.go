//go:build linux

package screen

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Options of a terminal.
type Options struct {
	Rows, Columns int  // default 24 and 80
	Whole         bool // programs may use all of the screen, not only draw lines again
}

// patience bounds how long is waited for what a terminal shows.
const patience = time.Minute

// Terminal is a pseudo-terminal with its screen. Its methods are for the goroutine of the test.
type Terminal struct {
	File *os.File // what a program writes to and reads from

	t      testing.TB
	cmd    *exec.Cmd
	ended  chan struct{} // the program has
	host   *os.File
	before unix.Termios
	more   chan struct{} // something was written

	mu     sync.Mutex
	screen display
	raw    bytes.Buffer // all that was written
}

// display is what a person sees.
type display interface {
	Write([]byte) (int, error)
	Text() string     // the lines, without spaces at their ends and empty ones at the end
	Faults() []string // what should not have been written
	Resize(columns, rows int)
	Altered() bool // something is not as a program finds it at its start
}

// Open opens a terminal, which the end of the test closes.
func Open(t testing.TB, o Options) *Terminal {
	t.Helper()
	o.Rows, o.Columns = cmp.Or(o.Rows, 24), cmp.Or(o.Columns, 80)
	host, program, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	x := &Terminal{File: program, t: t, host: host, more: make(chan struct{}, 1)}
	done, end := make(chan struct{}), func() {}
	x.screen = NewLines(o.Columns)
	if o.Whole {
		e := newEmulator(o.Columns, o.Rows, host)
		x.screen, end = e, e.close
	}
	t.Cleanup(func() {
		x.kill()
		program.Close()
		<-done
		end()
		host.Close()
	})
	go func() {
		defer close(done)
		x.read()
	}()
	x.Resize(o.Columns, o.Rows)
	x.before = x.modes()
	return x
}

func (x *Terminal) read() {
	b := make([]byte, 32<<10)
	for {
		n, err := x.host.Read(b)
		if err != nil {
			return
		}
		x.mu.Lock()
		x.raw.Write(b[:n])
		x.screen.Write(b[:n])
		x.mu.Unlock()
		select {
		case x.more <- struct{}{}:
		default:
		}
	}
}

// Start starts a program at the terminal, as a shell does.
func (x *Terminal) Start(cmd *exec.Cmd) {
	x.t.Helper()
	if cmd.Env == nil {
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.File, x.File, x.File
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	x.cmd, x.ended = cmd, make(chan struct{})
	go func() {
		defer close(x.ended)
		_ = cmd.Wait()
	}()
}

func (x *Terminal) kill() {
	if x.cmd != nil {
		_ = x.cmd.Process.Kill()
		<-x.ended
	}
}

// Signal sends the program a signal.
func (x *Terminal) Signal(s syscall.Signal) { _ = x.cmd.Process.Signal(s) }

// Type presses keys.
func (x *Terminal) Type(keys string) {
	x.t.Helper()
	if _, err := x.host.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// Resize changes the size of the terminal, of which its program hears.
func (x *Terminal) Resize(columns, rows int) {
	x.t.Helper()
	if err := pty.Setsize(x.host, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		x.t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.screen.Resize(columns, rows)
}

// Text is what stands on the screen.
func (x *Terminal) Text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.screen.Text()
}

// Written is all that was written to the terminal.
func (x *Terminal) Written() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return bytes.Clone(x.raw.Bytes())
}

// Taken reports whether the program has changed the modes of the terminal.
func (x *Terminal) Taken() bool {
	return x.modes() != x.before
}

func (x *Terminal) modes() unix.Termios {
	modes, err := unix.IoctlGetTermios(int(x.File.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return *modes
}

// End waits for the end of the program, checks that the terminal is as it was before, and returns its status.
func (x *Terminal) End() syscall.WaitStatus {
	x.t.Helper()
	select {
	case <-x.ended:
	case <-time.After(patience):
		x.t.Fatalf("the program does not end; the terminal shows\n%s", x.Text())
	}
	x.await("what it did before", func() bool { return !x.screen.Altered() })
	if x.Taken() {
		x.t.Errorf("the terminal has the modes %+v: want those of before, %+v", x.modes(), x.before)
	}
	return x.cmd.ProcessState.Sys().(syscall.WaitStatus)
}
