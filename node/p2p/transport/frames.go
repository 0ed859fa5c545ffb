package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/multiformats/go-varint"

	"skep/grid"
	"skep/node/p2p/wire"
)

var (
	errOversize  = errors.New("frame too large")
	errFraming   = errors.New("broken framing")
	errMalformed = errors.New("no message")                 // the frame was skipped
	errUnknown   = errors.New("message of a later version") // the frame was skipped
)

// frames reads the frames of a stream: each its length as a varint, then that many bytes.
type frames struct {
	st     readStream
	br     *bufio.Reader
	buf    []byte
	memory *inboundMemory // nil: unbounded
}

// readStream is the read side of a stream.
type readStream interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

func newFrames(st readStream) *frames {
	return &frames{st: st, br: bufio.NewReaderSize(st, 16<<10)}
}

// next returns the next frame and the kind that it states. It waits for ever for a frame to begin, but only
// frameDeadline for the rest of it, and allocates nothing for one that is too large for its kind.
func (f *frames) next() (grid.Kind, []byte, error) {
	if _, err := f.br.Peek(1); err != nil {
		return 0, nil, err
	}
	slow := f.br.Buffered() < f.nextSize()
	if slow {
		f.st.SetReadDeadline(time.Now().Add(frameDeadline))
		defer f.st.SetReadDeadline(time.Time{})
	}
	size, err := varint.ReadUvarint(f.br)
	if err != nil {
		return 0, nil, errors.Join(errFraming, err)
	}
	if size > uint64(wire.MaxFrame) {
		return 0, nil, fmt.Errorf("%w: %d bytes, want at most %d", errOversize, size, wire.MaxFrame)
	}
	head, err := f.br.Peek(int(min(size, 2)))
	if err != nil {
		return 0, nil, err
	}
	kind, ok := wire.KindOf(head)
	switch limit := wire.Limit(kind); {
	case !ok:
		return 0, nil, f.skip(int(size), errMalformed)
	case limit == 0:
		return kind, nil, f.skip(int(size), errUnknown)
	case size > uint64(limit):
		return kind, nil, fmt.Errorf("%w: %v of %d bytes, want at most %d", errOversize, kind, size, limit)
	}
	b, err := f.body(int(size))
	return kind, b, err
}

// keptFrame is the size in bytes of the buffer that a stream keeps for its next frame.
const keptFrame = 16 << 10

// body reads size bytes into memory that is taken as they arrive. They are valid until the next call.
func (f *frames) body(size int) ([]byte, error) {
	b := f.buf[:0]
	f.buf = nil
	for len(b) < size {
		n := min(size-len(b), inboundPiece)
		if size > inboundFree {
			waited, err := f.memory.reserve(int64(n))
			if err != nil {
				return nil, err
			}
			if waited { // blocked by other peers: the sender's time starts anew
				f.st.SetReadDeadline(time.Now().Add(frameDeadline))
				defer f.st.SetReadDeadline(time.Time{})
			}
		}
		b = slices.Grow(b, n)[:len(b)+n]
		if _, err := io.ReadFull(f.br, b[len(b)-n:]); err != nil {
			return nil, err
		}
	}
	if cap(b) <= keptFrame {
		f.buf = b
	}
	return b, nil
}

// nextSize returns the number of buffered bytes that the next frame needs, as far as its length is known.
func (f *frames) nextSize() int {
	head, _ := f.br.Peek(min(f.br.Buffered(), binary.MaxVarintLen64))
	size, n := binary.Uvarint(head)
	if n <= 0 || size > uint64(f.br.Size()) {
		return f.br.Size() + 1
	}
	return n + int(size)
}

// skip discards a frame and returns why, or the read error.
func (f *frames) skip(size int, why error) error {
	if _, err := f.br.Discard(size); err != nil {
		return err
	}
	return why
}

// writeHello writes h as a frame.
func writeHello(w io.Writer, h *wire.Hello) error {
	body := h.Append(nil)
	_, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
	return err
}

// byteReader reads single bytes without buffering more.
type byteReader struct{ io.Reader }

func (r byteReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r.Reader, b[:])
	return b[0], err
}

// readHello reads a frame that must be a hello, and not one byte more.
func readHello(r io.Reader) (h wire.Hello, err error) {
	size, err := varint.ReadUvarint(byteReader{r})
	if err != nil {
		return h, err
	}
	if size > wire.MaxHello {
		return h, fmt.Errorf("%w: hello of %d bytes, want at most %d", errOversize, size, wire.MaxHello)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return h, err
	}
	return h, h.Decode(b)
}

// greetings is the number of hello exchanges at the beginning of a control stream. The first one also opens the
// stream on the other side, often under the load of a start; the minimum of all is the round trip.
const greetings = 3

// greet sends hellos on an own stream and returns the answer and the round-trip time.
func greet(st io.ReadWriter, own *wire.Hello) (h wire.Hello, rtt time.Duration, err error) {
	for i := range greetings {
		start := time.Now()
		if err = writeHello(st, own); err != nil {
			return h, 0, err
		}
		if h, err = readHello(st); err != nil {
			return h, 0, err
		}
		if took := time.Since(start); i == 0 || took < rtt {
			rtt = took
		}
	}
	return h, rtt, nil
}

// welcome answers the hellos on a stream that a peer has opened, each by what answer returns.
func welcome(st io.ReadWriter, answer func(*wire.Hello) *wire.Hello) (h wire.Hello, err error) {
	for range greetings {
		if h, err = readHello(st); err != nil {
			return h, err
		}
		if err = writeHello(st, answer(&h)); err != nil {
			return h, err
		}
	}
	return h, nil
}
