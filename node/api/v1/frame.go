package v1

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// FrameType is the media type of a stream of frames. A frame is its kind (1 byte), the index of the task it is
// of (4 bytes), the length of its content (4 bytes), both big-endian, and its content.
const FrameType = "application/vnd.skep.frames"

// MaxFrame bounds the content of a frame, in bytes.
const MaxFrame = 1 << 20

// FrameKind is the type of a frame.
type FrameKind byte

// Kinds of frames. A reader skips unknown ones.
const (
	FrameStdout FrameKind = iota + 1
	FrameStderr
	FrameEvent // an Event as JSON
)

// Kinds of events.
const (
	EventSubmitted = "submitted" // the job is saved: Job
	EventTask      = "task"      // a task ended, and all its output came before: Task
	EventEnd       = "end"       // nothing follows: Job, where the stream is of a whole job
	EventError     = "error"     // nothing follows: Error
	EventAlive     = "alive"     // nothing happened for a while
	EventProgress  = "progress"  // if it was asked for, at most once a second: Job, and Task if that has one alone
)

// Event is one event of the followed job.
type Event struct {
	Event string   `json:"event"`
	Job   *Job     `json:"job,omitempty"`
	Task  *Task    `json:"task,omitempty"`
	Why   []string `json:"why,omitempty" doc:"Of a task that nobody could run: the reason of each node."`
	Error string   `json:"error,omitempty"`
}

// FrameWriter writes frames. It is safe for concurrent use.
type FrameWriter struct {
	mu    sync.Mutex
	w     io.Writer
	flush func() error
	head  [9]byte
}

// NewFrameWriter writes to w and calls flush after each frame.
func NewFrameWriter(w io.Writer, flush func() error) *FrameWriter {
	return &FrameWriter{w: w, flush: flush}
}

// Write writes one frame.
func (f *FrameWriter) Write(k FrameKind, task uint32, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for first := true; first || len(p) > 0; first = false {
		part := p[:min(len(p), MaxFrame)]
		p = p[len(part):]
		f.head[0] = byte(k)
		binary.BigEndian.PutUint32(f.head[1:], task)
		binary.BigEndian.PutUint32(f.head[5:], uint32(len(part)))
		if _, err := f.w.Write(f.head[:]); err != nil {
			return err
		}
		if _, err := f.w.Write(part); err != nil {
			return err
		}
	}
	return f.flush()
}

// Event writes an event.
func (f *FrameWriter) Event(task uint32, e *Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(b) > MaxFrame {
		return fmt.Errorf("event of %d bytes: want at most %d", len(b), MaxFrame)
	}
	return f.Write(FrameEvent, task, b)
}

// Stream returns a writer of one task's stream.
func (f *FrameWriter) Stream(k FrameKind, task uint32) io.Writer { return stream{f, k, task} }

type stream struct {
	f    *FrameWriter
	kind FrameKind
	task uint32
}

func (s stream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.f.Write(s.kind, s.task, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Frame is one frame; Data is valid until the next one is read.
type Frame struct {
	Kind FrameKind
	Task uint32
	Data []byte
}

// FrameReader reads frames.
type FrameReader struct {
	r    io.Reader
	head [9]byte
	buf  []byte
}

// NewFrameReader reads from r.
func NewFrameReader(r io.Reader) *FrameReader { return &FrameReader{r: r} }

// Next returns the next frame, io.EOF at the end between two frames, io.ErrUnexpectedEOF within one.
func (f *FrameReader) Next() (Frame, error) {
	if _, err := io.ReadFull(f.r, f.head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(f.head[5:])
	if n > MaxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes: want at most %d", n, MaxFrame)
	}
	if int(n) > cap(f.buf) {
		f.buf = make([]byte, n)
	}
	f.buf = f.buf[:n]
	if _, err := io.ReadFull(f.r, f.buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	return Frame{Kind: FrameKind(f.head[0]), Task: binary.BigEndian.Uint32(f.head[1:]), Data: f.buf}, nil
}
