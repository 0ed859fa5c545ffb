package hostile

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Protocols of a node besides gossipsub's, for Stream. The request of a blob stream is 40 bytes, of an output
// stream 64, of a standard input 54, of a reach stream 2; an API stream (APIStream) carries HTTP.
const (
	Control   = "/skep/control/1"
	Blob      = "/skep/blob/1"
	Output    = "/skep/output/1"
	Stdin     = "/skep/stdin/1"
	Exec      = "/skep/exec/1"
	Jobs      = "/skep/jobs/1"
	Reach     = "/skep/reach/1"
	APIStream = "/skep/api/1"
)

const (
	greetings = 3
	helloTime = 10 * time.Second
)

// Talk is the member's side of a control stream.
type Talk struct {
	st network.Stream

	mu    sync.Mutex
	codec wire.Codec
}

func (m *Member) hello() *wire.Hello {
	return &wire.Hello{Version: wire.Version, Kinds: grid.AllKinds, Software: "hostile", Boot: m.boot,
		Features: grid.AllFeatures}
}

// Control opens a control stream and says hello, which makes the member a peer that is up.
func (m *Member) Control(ctx context.Context, to grid.NodeID) (*Talk, error) {
	st, err := m.Stream(ctx, to, Control)
	if err != nil {
		return nil, err
	}
	st.SetDeadline(time.Now().Add(helloTime))
	for range greetings {
		if err = writeFrame(st, m.hello().Append(nil)); err == nil {
			_, err = readFrame(st, wire.MaxHello)
		}
		if err != nil {
			st.Reset()
			return nil, err
		}
	}
	st.SetDeadline(time.Time{})
	return &Talk{st: st}, nil
}

// Say sends a message as an honest member encodes it. One that no member would send is an error; Frame sends it.
func (t *Talk) Say(msg *grid.Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := t.codec.Append(nil, msg, func(a *grid.Ad) []byte { return a.Sealed })
	if err != nil {
		return err
	}
	return writeFrame(t.st, b)
}

// Frame sends bytes as one frame.
func (t *Talk) Frame(body []byte) error { return writeFrame(t.st, body) }

// SetDeadline bounds writes that the node does not read.
func (t *Talk) SetDeadline(at time.Time) error { return t.st.SetDeadline(at) }

// Close resets the stream.
func (t *Talk) Close() error { return t.st.Reset() }

func writeFrame(w io.Writer, body []byte) error {
	_, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
	return err
}

// readFrame reads one frame of at most so many bytes, and not a byte more.
func readFrame(r io.Reader, most uint64) ([]byte, error) {
	size, err := binary.ReadUvarint(oneByte{r})
	if err != nil || size > most {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, size)
	_, err = io.ReadFull(r, b)
	return b, err
}

// welcome answers the hellos on a control stream that a node has opened, and hands what the node sends to hear; nil
// discards it.
func welcome(st network.Stream, own *wire.Hello, hear func(*grid.Message)) {
	for range greetings {
		if _, err := readFrame(st, wire.MaxHello); err != nil {
			st.Reset()
			return
		}
		if writeFrame(st, own.Append(nil)) != nil {
			st.Reset()
			return
		}
	}
	if hear == nil {
		io.Copy(io.Discard, st)
		return
	}
	var codec wire.Codec
	for {
		b, err := readFrame(st, uint64(wire.MaxFrame))
		if err != nil {
			return
		}
		var m grid.Message
		if codec.Decode(b, &m, func([]byte) (*grid.Ad, error) { return nil, nil }) == nil {
			hear(&m)
		}
	}
}

// oneByte reads single bytes without buffering more.
type oneByte struct{ io.Reader }

// ReadByte reads the next byte.
func (r oneByte) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r.Reader, b[:])
	return b[0], err
}
