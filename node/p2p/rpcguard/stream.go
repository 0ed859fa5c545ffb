package rpcguard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// MaxFrame bounds a frame in bytes.
const MaxFrame = 32 << 10

// Rates. A frame costs its bytes and frameCost; beyond the rate the peer's stream is read more slowly. Messages are
// counted separately, since pubsub stores the ID of each for two minutes. All peers together have a rate too;
// streams wait for it in turn.
const (
	frameCost  = 256
	peerBytes  = 256 << 10 // a second
	peerBurst  = 1 << 20
	allBytes   = 1 << 20
	allBurst   = 4 << 20
	peerRate   = 200 // messages a second
	peerAtOnce = 1000
	allRate    = 1000
	allAtOnce  = 4000

	frameTime = 10 * time.Second // from the first byte of a frame to its last
	maxPeers  = 1024             // whose rates are tracked
)

// Guard checks and rate-limits gossipsub streams before pubsub reads them.
type Guard struct {
	bad   func(p peer.ID, err error)
	peers *lru.Cache[peer.ID, *rates]
	all   rates
}

// rates limit the bytes and messages that are read.
type rates struct{ bytes, messages *rate.Limiter }

// New returns a guard. bad is called with each refused frame, before its stream is reset: the error wraps
// ErrMalformed, ErrBound or ErrExchange.
func New(bad func(p peer.ID, err error)) *Guard {
	peers, err := lru.New[peer.ID, *rates](maxPeers)
	if err != nil {
		panic("rpcguard: " + err.Error())
	}
	return &Guard{bad: bad, peers: peers, all: rates{rate.NewLimiter(allBytes, allBurst),
		rate.NewLimiter(allRate, allAtOnce)}}
}

// Host returns h for pubsub: the streams that it serves are guarded.
func (g *Guard) Host(h host.Host) host.Host { return guarded{h, g} }

type guarded struct {
	host.Host
	g *Guard
}

// SetStreamHandler serves guarded streams of a protocol.
func (h guarded) SetStreamHandler(id protocol.ID, f network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(st network.Stream) { f(h.g.stream(st)) })
}

// stream is an incoming stream whose frames are checked.
type stream struct {
	network.Stream
	g     *Guard
	who   peer.ID
	mine  *rates
	buf   []byte // of a frame, with its length
	rest  []byte // of buf, not read yet
	ctx   context.Context
	leave context.CancelFunc
}

func (g *Guard) stream(st network.Stream) *stream {
	s := &stream{Stream: st, g: g, who: st.Conn().RemotePeer()}
	s.ctx, s.leave = context.WithCancel(context.Background())
	var known bool
	if s.mine, known = g.peers.Get(s.who); !known {
		s.mine = &rates{rate.NewLimiter(peerBytes, peerBurst), rate.NewLimiter(peerRate, peerAtOnce)}
		g.peers.Add(s.who, s.mine)
	}
	return s
}

// Read returns bytes of checked frames.
func (s *stream) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) == 0 {
		s.buf = nil // pubsub has a copy: an idle stream holds nothing
	}
	return n, nil
}

// Reset resets the stream, and ends waiting.
func (s *stream) Reset() error {
	s.leave()
	return s.Stream.Reset()
}

// Close closes the stream, and ends waiting.
func (s *stream) Close() error {
	s.leave()
	return s.Stream.Close()
}

// next reads and checks the next frame.
func (s *stream) next() error {
	size, err := s.size()
	if err != nil {
		return err
	}
	if size > MaxFrame {
		return s.refuse(bound("bytes of a frame", int(min(size, 1<<62)), MaxFrame))
	}
	s.buf = binary.AppendUvarint(make([]byte, 0, size+binary.MaxVarintLen32), size)
	head := len(s.buf)
	s.buf = s.buf[:head+int(size)]
	if _, err := io.ReadFull(s.Stream, s.buf[head:]); err != nil {
		return err
	}
	s.SetReadDeadline(time.Time{})
	messages, err := Check(s.buf[head:])
	if err != nil {
		return s.refuse(err)
	}
	cost := int(size) + frameCost
	for _, wait := range []*rates{s.mine, &s.g.all} {
		if err := errors.Join(wait.bytes.WaitN(s.ctx, cost), wait.messages.WaitN(s.ctx, messages)); err != nil {
			return err
		}
	}
	s.rest = s.buf
	return nil
}

// size reads the length of the next frame. It waits for ever for the first byte; from then on a frame has frameTime
// to be complete.
func (s *stream) size() (uint64, error) {
	var b [1]byte
	var size uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if _, err := io.ReadFull(s.Stream, b[:]); err != nil {
			return 0, err
		}
		if shift == 0 {
			s.SetReadDeadline(time.Now().Add(frameTime))
		}
		size |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return size, nil
		}
	}
	return 0, s.refuse(ErrMalformed)
}

func (s *stream) refuse(err error) error {
	s.g.bad(s.who, err)
	s.Reset()
	return fmt.Errorf("gossip: %w", err)
}
