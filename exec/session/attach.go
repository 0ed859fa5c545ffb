//go:build unix

package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"skep/exec/terminal"
)

// Streams are the client's ends of a command's streams.
type Streams struct {
	In       io.Reader // nil: an empty input
	Out, Err io.Writer
	Resized  <-chan terminal.Size // of the terminal, if the request has one; may be nil
}

// ErrLost reports that a connection was lost before the command's end was told: it was killed then.
var ErrLost = errors.New("the connection to the task was lost, and what ran there was ended")

// Attach runs a command on the other side of a connection, with these streams, and returns how it ended. It may return
// while it still reads of the input; the caller closes the connection.
func Attach(conn io.ReadWriter, q *Request, s Streams) (End, error) {
	out := &writer{w: conn}
	b, err := json.Marshal(q)
	if err != nil {
		return End{}, err
	}
	if len(b) > maxRequest {
		return End{}, fmt.Errorf("the command and its variables have %d bytes: want at most %d", len(b), maxRequest)
	}
	if err := out.write(kindRequest, b); err != nil {
		return End{}, fmt.Errorf("%w: %w", ErrLost, err)
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		if s.In != nil && out.copy(kindInput, s.In) != nil {
			return // the connection is lost, which the other direction tells
		}
		out.write(kindInputEnd, nil)
	}()
	go func() {
		for {
			select {
			case size := <-s.Resized:
				out.writeJSON(kindResize, size)
			case <-over:
				return
			}
		}
	}()
	return receive(conn, &s)
}

// receive prints what comes until the end.
func receive(conn io.Reader, s *Streams) (end End, err error) {
	in := &reader{r: conn, most: maxContent}
	for {
		k, content, err := in.next()
		if err != nil {
			return end, fmt.Errorf("%w: %w", ErrLost, err)
		}
		switch k {
		case kindStdout:
			_, err = s.Out.Write(content)
		case kindStderr:
			_, err = s.Err.Write(content)
		case kindEnd:
			if err := json.Unmarshal(content, &end); err != nil {
				return end, fmt.Errorf("the end of the command: %w", err)
			}
			return end, nil
		}
		if err != nil {
			return end, fmt.Errorf("cannot print: %w", err)
		}
	}
}
