package runner

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/throughput"
	"skep/node/p2p/wire"
)

// BlobProtocol is the protocol of blob streams.
const BlobProtocol = "/skep/blob/1"

// A blob stream: the asker sends the blob's ID and the offset to begin at, 8 bytes, most significant first; the
// answer is a status, the blob's size in 8 bytes, and the content from the offset on.
const (
	BlobRequest = 32 + 8
	blobAnswer  = 1 + 8
)

// Deadlines of blob and output streams.
const (
	requestDeadline = 10 * time.Second // for a request, or an answer to it
	fetchStall      = 15 * time.Second // for the next fetchPiece bytes of a blob
)

// fetchPiece is the number of bytes of a blob, or the rest of it, that must arrive within fetchStall: a slower peer
// is replaced by another, and holds up no other fetch. 1 KiB/s is less than any useful link has.
const fetchPiece = 16 << 10

// blobSource reads a blob from one peer after the other, each continuing where the one before broke off.
type blobSource struct {
	f            *fetcher
	ctx          context.Context
	file         *grid.File
	holders      []grid.NodeID // not tried yet, or worth another try
	single       bool          // do not combine parts of different peers
	contributors []grid.NodeID // peers that sent the parts read so far
	err          error         // why the last one failed

	st      network.Stream
	release func()
	peer    grid.NodeID // that the stream is from
	at      int64       // bytes read
	began   int64       // of them before this stream
	dueAt   int64       // bytes that must have arrived by the stream's deadline
	told    int64       // bytes that the meter knows of
}

// Read reads the next bytes from any of the peers.
func (s *blobSource) Read(b []byte) (int, error) {
	for s.at < int64(s.file.Size) {
		if s.st == nil {
			if err := s.next(); err != nil {
				return 0, err
			}
		}
		if s.at >= s.dueAt {
			s.dueAt = s.at + fetchPiece
			s.st.SetReadDeadline(time.Now().Add(fetchStall))
		}
		n, err := s.st.Read(b[:min(int64(len(b)), int64(s.file.Size)-s.at)])
		s.at += int64(n)
		if n > 0 {
			s.tell()
			return n, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			s.failed(err)
			if s.single && s.at > 0 {
				return 0, err
			}
		}
	}
	return 0, io.EOF
}

// next opens a stream to the next peer that has the blob.
func (s *blobSource) next() error {
	for len(s.holders) > 0 {
		n := s.holders[0]
		err := s.open(n)
		if err == nil {
			if !slices.Contains(s.contributors, n) {
				s.contributors = append(s.contributors, n)
			}
			return nil
		}
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		s.err = fmt.Errorf("node %s: %w", n.Short(), err)
		s.holders = s.holders[1:]
	}
	if s.err == nil {
		s.err = errors.New("no connected node has it")
	}
	return s.err
}

func (s *blobSource) open(n grid.NodeID) (err error) {
	release, err := s.f.slot(s.ctx, n)
	if err != nil {
		return err
	}
	st, err := s.f.cfg.Peers.Open(s.ctx, n, BlobProtocol)
	if err != nil {
		release()
		return err
	}
	unwatch := context.AfterFunc(s.ctx, func() { st.Reset() })
	leave := func() { unwatch(); release() }
	defer func() {
		if err != nil {
			st.Reset()
			leave()
		}
	}()
	st.SetDeadline(time.Now().Add(fetchStall))
	ask := binary.BigEndian.AppendUint64(append([]byte(nil), s.file.Blob[:]...), uint64(s.at))
	if _, err = st.Write(ask); err != nil {
		return err
	}
	var answer [blobAnswer]byte
	if _, err = io.ReadFull(st, answer[:]); err != nil {
		return err
	}
	switch size := binary.BigEndian.Uint64(answer[1:]); {
	case answer[0] == wire.StatusBusy:
		return errors.New("is busy")
	case answer[0] != wire.StatusOK:
		return errors.New("does not have it")
	case size != uint64(s.file.Size):
		return fmt.Errorf("has %d bytes, want %d", size, s.file.Size)
	}
	st.CloseWrite()
	s.st, s.release, s.began, s.dueAt, s.told = st, leave, s.at, s.at, s.at
	s.peer = n
	s.f.cfg.meter.Begin(throughput.Way{Peer: n}, time.Now())
	return nil
}

// failed closes the stream. A peer that sent something moves to the end of the list; one that did not is not asked
// again.
func (s *blobSource) failed(err error) {
	n := s.holders[0]
	s.err = fmt.Errorf("node %s: %w", n.Short(), err)
	s.holders = s.holders[1:]
	if s.at > s.began {
		s.holders = append(s.holders, n)
	}
	s.close()
}

func (s *blobSource) close() {
	if s.st == nil {
		return
	}
	s.st.Reset()
	s.release()
	s.st, s.release = nil, nil
	way := throughput.Way{Peer: s.peer}
	s.f.cfg.tell(way, s.f.cfg.meter.End(way, grid.Bytes(s.at-s.told), leastReceived, time.Now()))
}

// tell has the bandwidth of a long transfer known before its end: else all would come from a slow peer meanwhile.
func (s *blobSource) tell() {
	if s.at-s.told < leastProgress {
		return
	}
	way := throughput.Way{Peer: s.peer}
	s.f.cfg.tell(way, s.f.cfg.meter.Progress(way, grid.Bytes(s.at-s.told), leastProgress, time.Now()))
	s.told = s.at
}

// leastProgress is after how many bytes of a blob the bandwidth so far is told.
const leastProgress = 8 << 20

// rewind goes back to the first byte.
func (s *blobSource) rewind() { s.at, s.began, s.contributors = 0, 0, nil }

// exclude removes a peer from the list.
func (s *blobSource) exclude(n grid.NodeID) {
	s.holders = slices.DeleteFunc(s.holders, func(m grid.NodeID) bool { return m == n })
}
