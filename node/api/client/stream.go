package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"skep/node/api/v1"
)

// Stream is the stream of a job's events and output.
type Stream struct {
	body   io.ReadCloser
	frames *v1.FrameReader
}

func newStream(body io.ReadCloser) *Stream {
	return &Stream{body, v1.NewFrameReader(bufio.NewReaderSize(body, 32<<10))}
}

// Next returns the next frame; e is set if it is an event. After the last event it returns io.EOF. A stream that
// breaks off is an error, never an end.
func (s *Stream) Next() (f v1.Frame, e *v1.Event, err error) {
	f, err = s.frames.Next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return f, nil, err
		}
		return f, nil, fmt.Errorf("the node's answer broke off: %w", err)
	}
	if f.Kind != v1.FrameEvent {
		return f, nil, nil
	}
	e = new(v1.Event)
	if err := json.Unmarshal(f.Data, e); err != nil {
		return f, nil, fmt.Errorf("the node's answer: %w", err)
	}
	v1.Printable(e)
	return f, e, nil
}

// Close ends the stream; the job continues.
func (s *Stream) Close() error { return s.body.Close() }
