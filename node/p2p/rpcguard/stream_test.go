package rpcguard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"
)

// scriptedStream is a stream on which a peer sends given bytes, and then nothing.
type scriptedStream struct {
	network.Stream
	io.Reader
	who      peer.ID
	reset    bool
	deadline time.Time
}

func (s *scriptedStream) Read(b []byte) (int, error)         { return s.Reader.Read(b) }
func (s *scriptedStream) Conn() network.Conn                 { return peerConn{who: s.who} }
func (s *scriptedStream) Reset() error                       { s.reset = true; return nil }
func (s *scriptedStream) SetReadDeadline(at time.Time) error { s.deadline = at; return nil }

// peerConn is a connection with a peer.
type peerConn struct {
	network.Conn
	who peer.ID
}

func (f peerConn) RemotePeer() peer.ID { return f.who }

func frame(t *testing.T, rpc *pb.RPC) []byte {
	b, err := proto.Marshal(rpc)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
}

// Valid frames pass unchanged; the first invalid one ends the stream and is reported.
func TestValidFramesPass(t *testing.T) {
	good := frame(t, &pb.RPC{Publish: []*pb.Message{{Data: make([]byte, 1000)}}})
	bad := frame(t, &pb.RPC{Publish: []*pb.Message{{Seqno: make([]byte, 100)}}})
	var reported error
	g := New(func(_ peer.ID, err error) { reported = err })
	in := &scriptedStream{who: "a", Reader: bytes.NewReader(append(append(bytes.Repeat(good, 3), bad...), good...))}
	out, err := io.ReadAll(g.stream(in))
	if !bytes.Equal(out, bytes.Repeat(good, 3)) || !errors.Is(err, ErrBound) || !errors.Is(reported, ErrBound) ||
		!in.reset {
		t.Errorf("%d bytes of %d, %v, told %v, reset %v: want what came before the bad frame, and that to be told", len(out),
			3*len(good), err, reported, in.reset)
	}
	in = &scriptedStream{who: "b", Reader: bytes.NewReader(binary.AppendUvarint(nil, 1<<40))}
	if _, err := io.ReadAll(g.stream(in)); !errors.Is(err, ErrBound) {
		t.Errorf("a frame of a TiB: %v", err)
	}
}

// A frame that has begun must become complete; between two frames a stream may be silent.
func TestFrameDeadline(t *testing.T) {
	good := frame(t, &pb.RPC{})
	in := &scriptedStream{who: "a", Reader: bytes.NewReader(good)}
	New(nil).stream(in).Read(make([]byte, 10))
	if !in.deadline.IsZero() {
		t.Error("after a frame the stream has a deadline")
	}
	in = &scriptedStream{who: "a", Reader: bytes.NewReader([]byte{100, 1})}
	New(nil).stream(in).Read(make([]byte, 10))
	if in.deadline.IsZero() {
		t.Error("in a frame the stream has no deadline")
	}
}

// A peer that exceeds its rate is read more slowly, also over new streams; the others are not.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(nil)
		flood := func(who peer.ID, frames int) time.Duration {
			start := time.Now()
			one := frame(t, &pb.RPC{Publish: []*pb.Message{{}}})
			for range 10 {
				if _, err := io.Copy(io.Discard,
					g.stream(&scriptedStream{who: who, Reader: bytes.NewReader(bytes.Repeat(one, frames/10))})); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(start)
		}
		if d := flood("attacker", peerAtOnce+10*peerRate); d < 9*time.Second || d > 11*time.Second {
			t.Errorf("%d messages over 10 streams took %v: want 10 s", peerAtOnce+10*peerRate, d)
		}
		if d := flood("honest", 100); d > 0 {
			t.Errorf("another peer waited for %v", d)
		}
	})
}
