//go:build unix

package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"skep/exec/terminal"
)

// kind is the type of a frame. The numbers are on the wire: never reuse one.
type kind byte

const (
	kindRequest  kind = iota + 1 // a Request as JSON; the first frame, and no other
	kindInput                    // of the command's stdin
	kindInputEnd                 // it has ended
	kindResize                   // a terminal.Size as JSON
	kindStdout
	kindStderr
	kindAlive // nothing: so that a node learns that its client is gone
	kindEnd   // an End as JSON; the last frame
)

// Bounds of a frame's content in bytes: of a request as many as a box takes of a command, of others a piece of a
// stream.
const (
	maxRequest = 160 << 10
	maxContent = 64 << 10
	piece      = 32 << 10 // that is sent
)

// Request says what to run.
type Request struct {
	Argv     []string       `json:"argv"`
	Env      []string       `json:"env,omitempty"`      // NAME=VALUE, after that of the task
	Terminal *terminal.Size `json:"terminal,omitempty"` // of the client's; absent: it wants none
}

// End is how a command ended.
type End struct {
	Code int    `json:"code"`          // as a shell has it: 128+n for a signal
	Why  string `json:"why,omitempty"` // for people, where the command did not end by itself
}

// writer writes frames. It is safe for concurrent use.
type writer struct {
	mu sync.Mutex
	w  io.Writer
	b  []byte

	sending atomic.Int32 // copies that send what they have read
	sent    atomic.Bool  // one has, since this was last cleared
}

func (w *writer) write(k kind, content []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(binary.BigEndian.AppendUint32(append(w.b[:0], byte(k)), uint32(len(content))), content...)
	_, err := w.w.Write(w.b)
	return err
}

func (w *writer) writeJSON(k kind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.write(k, b)
}

// copy sends what is read as frames, until its end. An error is one of the connection.
func (w *writer) copy(k kind, from io.Reader) error {
	b := make([]byte, piece)
	for {
		n, err := from.Read(b)
		if n > 0 {
			w.sending.Add(1)
			err := w.write(k, b[:n])
			w.sent.Store(true)
			w.sending.Add(-1)
			if err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// idle reports whether no copy sends, and none has since the last call.
func (w *writer) idle() bool { return w.sending.Load() == 0 && !w.sent.Swap(false) }

// reader reads frames.
type reader struct {
	r    io.Reader
	most uint32 // of the content of the next frame
	buf  []byte
}

// next returns the next frame; its content is valid until the one after. The error is io.EOF at the end between two
// frames.
func (r *reader) next() (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > r.most {
		return 0, nil, fmt.Errorf("frame of %d bytes: want at most %d", n, r.most)
	}
	if int(n) > cap(r.buf) {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return kind(head[0]), r.buf, nil
}
