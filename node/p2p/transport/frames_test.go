package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/wire"
)

// recordedStream is a stream of recorded bytes.
type recordedStream struct{ io.Reader }

func (recordedStream) SetReadDeadline(time.Time) error { return nil }

func framed(bodies ...[]byte) (b []byte) {
	for _, body := range bodies {
		b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
	}
	return b
}

func TestFrames(t *testing.T) {
	var c wire.Codec
	m := grid.Message{Kind: grid.KindAccept, Attempts: []grid.AttemptID{{}}}
	accept, err := c.Append(nil, &m, nil)
	if err != nil {
		t.Fatal(err)
	}
	big := append([]byte{63<<3&0x7f | 2 | 0x80, 63 << 3 >> 7}, make([]byte, 100_000)...)
	all := framed(accept, nil, []byte{0xff}, big, accept)
	f := newFrames(recordedStream{bytes.NewReader(all)})
	for i, want := range []error{nil, errMalformed, errMalformed, errUnknown, nil, io.EOF} {
		kind, body, err := f.next()
		if !errors.Is(err, want) || want == nil && (kind != grid.KindAccept || !bytes.Equal(body, accept)) {
			t.Errorf("frame %d: %v, %d bytes, %v: want %v", i, kind, len(body), err, want)
		}
	}
	for _, size := range []uint64{uint64(wire.MaxFrame) + 1, 1 << 62} {
		f := newFrames(recordedStream{bytes.NewReader(append(binary.AppendUvarint(nil, size), accept...))})
		if _, _, err := f.next(); !errors.Is(err, errOversize) {
			t.Errorf("a frame of %d bytes: %v", size, err)
		}
	}
	over := append(binary.AppendUvarint(nil, uint64(wire.Limit(grid.KindAccept))+1), accept...)
	if _, _, err := newFrames(recordedStream{bytes.NewReader(over)}).next(); !errors.Is(err, errOversize) {
		t.Errorf("a frame beyond the limit of its kind: %v", err)
	}
	if _, _, err := newFrames(recordedStream{bytes.NewReader(all[:3])}).next(); err == nil || errors.Is(err, io.EOF) &&
		!errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a frame cut off: %v", err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(framed([]byte{10, 0}, []byte{18, 0}))
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		in := newFrames(recordedStream{bytes.NewReader(b)})
		var c wire.Codec
		var m grid.Message
		for {
			kind, body, err := in.next()
			if errors.Is(err, errMalformed) || errors.Is(err, errUnknown) {
				continue
			}
			if err != nil {
				return
			}
			if len(body) > wire.Limit(kind) || len(body) > len(b) {
				t.Fatalf("%v of %d bytes from %d", kind, len(body), len(b))
			}
			c.Decode(body, &m, wire.Open)
		}
	})
}
