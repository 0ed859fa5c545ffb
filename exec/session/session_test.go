//go:build unix

package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"skep/exec/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a command that a function plays.
type fake struct {
	tty       bool
	in        *io.PipeReader
	to        *io.PipeWriter
	out, errs *io.PipeReader
	print     [2]*io.PipeWriter
	sizes     chan terminal.Size
	killed    chan struct{}
	once      sync.Once
	code      chan int
}

// play returns a starter of commands that f plays.
func play(tty bool, f func(*fake) int) (Start, *fake) {
	c := &fake{tty: tty, sizes: make(chan terminal.Size, 8), killed: make(chan struct{}), code: make(chan int, 1)}
	c.in, c.to = io.Pipe()
	c.out, c.print[0] = io.Pipe()
	c.errs, c.print[1] = io.Pipe()
	return func(*Request) (Command, error) {
		go func() {
			code := f(c)
			c.print[0].Close()
			c.print[1].Close()
			c.code <- code
		}()
		return c, nil
	}, c
}

func (c *fake) Terminal() bool               { return c.tty }
func (c *fake) Input() io.WriteCloser        { return c.to }
func (c *fake) Stdout() io.Reader            { return c.out }
func (c *fake) Stderr() io.Reader            { return c.errs }
func (c *fake) Resize(s terminal.Size) error { c.sizes <- s; return nil }
func (c *fake) Kill()                        { c.once.Do(func() { close(c.killed) }) }
func (c *fake) Wait() (int, string)          { return <-c.code, "" }
func (c *fake) Close()                       { c.in.Close(); c.out.Close(); c.errs.Close() }

// serve serves one connection, and returns the client's end and what Serve returned.
func serve(t *testing.T, start Start) (net.Conn, <-chan error) {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() {
		defer theirs.Close()
		served <- Serve(theirs, func() {}, start)
	}()
	t.Cleanup(func() { ours.Close() })
	return ours, served
}

func TestStreamsAndCodeTravel(t *testing.T) {
	start, _ := play(false, func(c *fake) int {
		fmt.Fprint(c.print[1], "begun")
		io.Copy(c.print[0], c.in)
		return 7
	})
	conn, served := serve(t, start)
	var out, errs bytes.Buffer
	input := strings.Repeat("0123456789", 50_000) // several frames
	end, err := Attach(conn, &Request{Argv: []string{"cat"}}, Streams{In: strings.NewReader(input), Out: &out, Err: &errs})
	if err != nil || end != (End{Code: 7}) || out.String() != input || errs.String() != "begun" {
		t.Errorf("%+v, %v, %d of %d bytes, %q", end, err, out.Len(), len(input), errs.String())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestTerminalIsResized(t *testing.T) {
	start, _ := play(true, func(c *fake) int {
		s := <-c.sizes
		fmt.Fprintf(c.print[0], "%d %d", s.Rows, s.Cols)
		return 0
	})
	conn, _ := serve(t, start)
	resized := make(chan terminal.Size, 1)
	resized <- terminal.Size{Rows: 50, Cols: 132}
	var out bytes.Buffer
	end, err := Attach(conn, &Request{Terminal: new(terminal.Size)}, Streams{Out: &out, Err: &out, Resized: resized})
	if err != nil || end.Code != 0 || out.String() != "50 132" {
		t.Errorf("%+v, %v, %q", end, err, out.String())
	}
}

// Why a command could not be started is told with the code of a shell.
func TestFailedStartIsTold(t *testing.T) {
	for _, row := range []struct {
		err  error
		code int
	}{{errors.New("no room"), 125}, {&StartError{127, errors.New("not found")}, 127}} {
		conn, _ := serve(t, func(*Request) (Command, error) { return nil, row.err })
		end, err := Attach(conn, &Request{}, Streams{In: strings.NewReader("x")})
		if err != nil || end.Code != row.code || end.Why != row.err.Error() {
			t.Errorf("%v: %+v, %v", row.err, end, err)
		}
	}
}

// A command is killed when its client is gone, also one that takes no input.
func TestLostClientKillsTheCommand(t *testing.T) {
	was := alive
	alive = 10 * time.Millisecond
	t.Cleanup(func() { alive = was })
	for _, input := range []io.Reader{nil, strings.NewReader(strings.Repeat("x", 1<<20))} {
		begun := make(chan struct{})
		start, c := play(false, func(c *fake) int {
			if input != nil {
				c.in.Read(make([]byte, 1)) // and no more: the rest is being written to it
			}
			close(begun)
			<-c.killed
			return 137
		})
		conn, served := serve(t, start)
		attached := make(chan error, 1)
		go func() {
			_, err := Attach(conn, &Request{}, Streams{In: input})
			attached <- err
		}()
		<-begun
		conn.Close()
		<-c.killed
		if err := <-served; err == nil {
			t.Error("served to the end")
		}
		if err := <-attached; !errors.Is(err, ErrLost) {
			t.Errorf("the client: %v", err)
		}
	}
}

// A client that takes nothing does not hold what serves it once the command has ended.
func TestStoppedClientIsGivenUp(t *testing.T) {
	was := farewell
	farewell = 10 * time.Millisecond
	t.Cleanup(func() { farewell = was })
	start, c := play(false, func(c *fake) int {
		go c.print[0].Write([]byte("x"))
		return 0
	})
	c.print[0] = keepOpen(c)
	conn, served := serve(t, start)
	if err := (&writer{w: conn}).writeJSON(kindRequest, &Request{}); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err == nil {
		t.Error("want the client given up")
	}
}

// A client that is slow to take the last output of a command that has ended gets all of it.
func TestSlowClientGetsTheLastOutput(t *testing.T) {
	was := drained
	drained = 300 * time.Millisecond
	t.Cleanup(func() { drained = was })
	var print *io.PipeWriter
	start, c := play(false, func(*fake) int {
		go func() {
			for range 10 {
				fmt.Fprint(print, "more")
			}
			print.Close()
		}()
		return 0
	})
	c.out, print = io.Pipe()
	conn, served := serve(t, start)
	if err := (&writer{w: conn}).writeJSON(kindRequest, &Request{}); err != nil {
		t.Fatal(err)
	}
	var got []byte
	in := &reader{r: conn, most: maxContent}
	time.Sleep(3 * drained)
	for k := kindStdout; k != kindEnd; {
		var content []byte
		var err error
		if k, content, err = in.next(); err != nil {
			t.Fatal(err)
		}
		if k == kindStdout {
			got = append(got, content...)
		}
	}
	if want := strings.Repeat("more", 10); string(got) != want {
		t.Errorf("the client got %q: want %q", got, want)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// keepOpen gives a command an output that something which it left holds open.
func keepOpen(c *fake) *io.PipeWriter {
	var w *io.PipeWriter
	c.out, w = io.Pipe()
	_, closed := io.Pipe() // in place of the one that the end closes
	go w.Write([]byte("left"))
	return closed
}

// What is no session is refused before anything is made of it.
func TestMalformedFramesAreRefused(t *testing.T) {
	frame := func(k kind, n uint32, content string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{byte(k)}, n), content...)
	}
	for name, b := range map[string][]byte{
		"nothing":          nil,
		"half a head":      {1, 0},
		"half a frame":     frame(kindRequest, 5, "{"),
		"a long request":   frame(kindRequest, maxRequest+1, ""),
		"no JSON":          frame(kindRequest, 1, "x"),
		"another at first": frame(kindInput, 1, "x"),
		"the longest":      frame(kindRequest, 1<<32-1, ""),
	} {
		started := false
		err := Serve(silent{bytes.NewReader(b)}, func() {}, func(*Request) (Command, error) {
			started = true
			return nil, errors.New("started")
		})
		if bounded := err != nil && strings.Contains(err.Error(), "want at most"); err == nil || started ||
			bounded != strings.Contains(name, "long") {
			t.Errorf("%s: %v, started %v: want an error", name, err, started)
		}
	}
}

// silent is a connection whose other side takes everything.
type silent struct{ io.Reader }

func (silent) Write(b []byte) (int, error)      { return len(b), nil }
func (silent) SetWriteDeadline(time.Time) error { return nil }

// A later version may say more.
func TestUnknownFramesArePassedOver(t *testing.T) {
	var b bytes.Buffer
	w := &writer{w: &b}
	w.write(200, []byte("new"))
	w.write(kindStdout, []byte("text"))
	w.write(kindEnd, []byte(`{"code":3,"more":1}`))
	var out bytes.Buffer
	end, err := receive(&b, &Streams{Out: &out})
	if err != nil || end.Code != 3 || out.String() != "text" {
		t.Errorf("%+v, %v, %q", end, err, out.String())
	}
}

func FuzzServe(f *testing.F) {
	var b bytes.Buffer
	w := &writer{w: &b}
	w.writeJSON(kindRequest, &Request{Argv: []string{"x"}, Terminal: &terminal.Size{Rows: 1}})
	w.write(kindInput, []byte("words"))
	w.writeJSON(kindResize, terminal.Size{Rows: 2, Cols: 3})
	w.write(kindInputEnd, nil)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		start, _ := play(true, func(c *fake) int {
			go func() { <-c.killed; c.in.Close() }()
			for range 3 {
				select {
				case <-c.sizes:
				default:
				}
			}
			io.Copy(io.Discard, c.in)
			return 0
		})
		Serve(silent{bytes.NewReader(b)}, func() {}, start)
	})
}
