//go:build unix

package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"skep/exec/terminal"
)

// Command is a running command.
type Command interface {
	Terminal() bool             // it has a terminal, and then no stderr
	Input() io.WriteCloser      // may be written to after its end, in vain
	Stdout() io.Reader          // ends with the last that can write to it
	Stderr() io.Reader          //
	Resize(terminal.Size) error // of its terminal
	Kill()
	Wait() (code int, why string) // once
	Close()                       // ends what reads and writes; after Wait
}

// Start starts a command. With an error of type *StartError the code is the error's.
type Start func(*Request) (Command, error)

// StartError is why a command could not be started, with the code that a shell gives such an end.
type StartError struct {
	Code int
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// codeFailed is the code of what failed by no fault of the command.
const codeFailed = 125

// Conn is a connection to a client.
type Conn interface {
	io.ReadWriter
	SetWriteDeadline(time.Time) error
}

// Times of a served session, variables for tests. alive is the longest that a client which is gone is not noticed while
// its command takes no input; drained how long more output of a command is waited for that has ended, since what it
// left may hold it open; farewell how long its client may take for the rest of it, at most half of that, and the end.
var alive, drained, farewell = 5 * time.Second, time.Second, 30 * time.Second

// Serve reads a request from a connection, runs the command, and returns when it has ended and that was told, or the
// connection is lost: then it was killed. The caller closes the connection, and bounds the time until the request has
// come, which started ends.
func Serve(conn Conn, started func(), start Start) error {
	in, out := &reader{r: conn, most: maxRequest}, &writer{w: conn}
	request, err := in.request()
	started()
	if err != nil {
		return err
	}
	c, err := start(request)
	if err != nil {
		end := End{Code: codeFailed, Why: err.Error()}
		if s := (*StartError)(nil); errors.As(err, &s) {
			end.Code = s.Code
		}
		return out.writeJSON(kindEnd, end)
	}
	s := served{c: c, conn: conn, in: in, out: out, quit: make(chan struct{})}
	return s.run()
}

func (r *reader) request() (*Request, error) {
	k, content, err := r.next()
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	r.most = maxContent
	var q Request
	if k != kindRequest {
		return nil, fmt.Errorf("request: is a frame of kind %d: want %d", k, kindRequest)
	}
	if err := json.Unmarshal(content, &q); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return &q, nil
}

// served is a command and its client.
type served struct {
	c    Command
	conn Conn
	in   *reader
	out  *writer
	quit chan struct{} // closed when the command has ended

	mu   sync.Mutex
	lost error // why the client is gone
}

func (s *served) run() error {
	go s.receive() // it returns when the caller closes the connection
	go s.probe(time.NewTicker(alive))
	var copies sync.WaitGroup
	copies.Go(func() { s.note(s.out.copy(kindStdout, s.c.Stdout())) })
	if !s.c.Terminal() {
		copies.Go(func() { s.note(s.out.copy(kindStderr, s.c.Stderr())) })
	}
	code, why := s.c.Wait()
	close(s.quit)
	s.conn.SetWriteDeadline(time.Now().Add(farewell)) // of a write that waits too
	copied := make(chan struct{})
	go func() {
		copies.Wait()
		close(copied)
	}()
	s.drain(copied)
	s.c.Close()
	<-copied
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.lost
	}
	return s.out.writeJSON(kindEnd, End{code, why})
}

// drain waits for the rest of the output of a command that has ended, until none came for a while. It looks twice in
// that time: a machine that stood still would take one look for a long while without output.
func (s *served) drain(copied <-chan struct{}) {
	until := time.Now().Add(farewell / 2)
	look := time.NewTicker(drained / 2)
	defer look.Stop()
	for idle := 0; idle < 2; {
		select {
		case <-copied:
			return
		case now := <-look.C:
			if idle++; !s.out.idle() {
				idle = 0
			}
			if now.After(until) {
				return
			}
		}
	}
}

// note kills the command when the client is gone.
func (s *served) note(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	first := s.lost == nil
	if first {
		s.lost = err
	}
	s.mu.Unlock()
	if first {
		s.c.Kill()
	}
}

// probe finds out that the client is gone though nothing is read of it, since the command takes no input.
func (s *served) probe(tick *time.Ticker) {
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.note(s.out.write(kindAlive, nil))
		case <-s.quit:
			return
		}
	}
}

// receive takes what the client sends, until it is gone. Of a command that reads no more the input is dropped.
func (s *served) receive() {
	to, ended := s.c.Input(), false
	for {
		k, content, err := s.in.next()
		if err != nil {
			select {
			case <-s.quit:
			default:
				s.note(fmt.Errorf("its client is gone: %w", err))
			}
			to.Close()
			return
		}
		switch k {
		case kindInput:
			if _, err := to.Write(content); err != nil && !ended {
				ended = true
				to.Close()
			}
		case kindInputEnd:
			ended = true
			to.Close()
		case kindResize:
			var size terminal.Size
			if json.Unmarshal(content, &size) == nil && s.c.Terminal() {
				s.c.Resize(size)
			}
		}
	}
}
