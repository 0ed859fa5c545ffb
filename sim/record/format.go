package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"skep/grid"
	"skep/node"
)

// MaxFrame bounds a frame: larger than any event. Bytes.
const MaxFrame = 16 << 20

const magic = "skep recording 2\n"

// Header is what the node was made from.
type Header struct {
	Version string      // of the build that recorded
	Zero    time.Time   // of the node's clock
	Config  node.Config // without what is lent to it
}

// item is a frame after the header: a record, an event, or what the step of the event before it did.
type item struct {
	Record *grid.Record
	Event  *grid.Event
	Now    grid.Time
	Did    *did
}

// did is what a step did.
type did struct {
	Digest uint64
	Text   string
}

// maxText bounds the line that says what a step did.
const maxText = 2000

// writer writes frames.
type writer struct {
	w     *bufio.Writer
	frame bytes.Buffer
	gob   *gob.Encoder
	wrote int64
	err   error
}

func newWriter(w io.Writer, h *Header) *writer {
	x := &writer{w: bufio.NewWriterSize(w, 64<<10)}
	x.gob = gob.NewEncoder(&x.frame)
	x.raw([]byte(magic))
	b, err := json.Marshal(h)
	if err != nil && x.err == nil {
		x.err = err
	}
	x.put(b)
	return x
}

func (x *writer) raw(b []byte) {
	if x.err == nil {
		_, x.err = x.w.Write(b)
		x.wrote += int64(len(b))
	}
}

func (x *writer) put(b []byte) {
	if len(b) > MaxFrame {
		x.err = fmt.Errorf("a frame of %d bytes: want at most %d", len(b), MaxFrame)
	}
	x.raw(binary.AppendUvarint(nil, uint64(len(b))))
	x.raw(b)
}

func (x *writer) item(it *item) {
	if x.err != nil {
		return
	}
	x.frame.Reset()
	if x.err = x.gob.Encode(it); x.err == nil {
		x.put(x.frame.Bytes())
	}
}

// reader reads frames.
type reader struct {
	r     *bufio.Reader
	frame bytes.Reader
	buf   []byte
	gob   *gob.Decoder
}

func newReader(r io.Reader) (*reader, *Header, error) {
	x := &reader{r: bufio.NewReaderSize(r, 64<<10)}
	x.gob = gob.NewDecoder(&x.frame)
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(x.r, head); err != nil || string(head) != magic {
		return nil, nil, errors.New("is no recording of this version: want one that `skep up --record` wrote")
	}
	if err := x.next(); err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	h := new(Header)
	if err := json.Unmarshal(x.buf, h); err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	return x, h, nil
}

// next reads a frame.
func (x *reader) next() error {
	n, err := binary.ReadUvarint(x.r)
	if err != nil {
		return err
	}
	if n > MaxFrame {
		return fmt.Errorf("a frame of %d bytes: want at most %d", n, MaxFrame)
	}
	if uint64(cap(x.buf)) < n {
		x.buf = make([]byte, n)
	}
	x.buf = x.buf[:n]
	if _, err := io.ReadFull(x.r, x.buf); err != nil {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// item reads the next item; io.EOF at the end, io.ErrUnexpectedEOF where the last frame is cut.
func (x *reader) item() (*item, error) {
	if err := x.next(); err != nil {
		return nil, err
	}
	x.frame.Reset(x.buf)
	it := new(item)
	if err := x.gob.Decode(it); err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	return it, nil
}
