package heldlog

import (
	"bytes"
	"io"
	"sync"
)

// most bounds what is held back, in bytes. With more the writer is released: a start that says so much is not one that
// fails with one error.
const most = 64 << 10

// Writer holds back what is written to it until it is released. It is safe for concurrent use.
type Writer struct {
	mu       sync.Mutex
	w        io.Writer
	held     bytes.Buffer
	released bool
}

// New returns a writer that holds back what is to be written to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements [io.Writer].
func (h *Writer) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released && h.held.Len()+len(p) <= most {
		return h.held.Write(p)
	}
	h.release()
	return h.w.Write(p)
}

// Release writes what was held back, and from now on at once.
func (h *Writer) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
}

func (h *Writer) release() {
	if h.released = true; h.held.Len() > 0 {
		_, _ = h.held.WriteTo(h.w) // a log that cannot be written is no reason to stop
	}
}
