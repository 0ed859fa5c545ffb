package runner

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/throughput"
	"skep/node/p2p/wire"
)

// ServeBlob answers a request for a blob.
func (r *Runner) ServeBlob(n grid.NodeID, st network.Stream, request []byte, w io.Writer) {
	st.CloseRead() // nothing more is read from the peer
	var answer [blobAnswer]byte
	b, size, err := r.cfg.Blobs.Open(r.ctx, grid.BlobID(request[:32]))
	offset := binary.BigEndian.Uint64(request[32:])
	st.SetWriteDeadline(time.Now().Add(requestDeadline)) // Open may have had to hash it first
	if err != nil {
		answer[0] = wire.StatusNone
		st.Write(answer[:])
		return
	}
	defer b.Close()
	binary.BigEndian.PutUint64(answer[1:], uint64(size))
	if _, err := st.Write(answer[:]); err != nil || offset > uint64(size) || b.Resume(grid.Bytes(offset)) != nil {
		st.Reset()
		return
	}
	way := throughput.Way{Peer: n, Sent: true}
	r.cfg.meter.Begin(way, time.Now())
	var sent int64
	for sent, err = io.CopyN(w, b, leastSent); err == nil; sent, err = io.CopyN(w, b, leastSent) {
		r.cfg.tell(way, r.cfg.meter.Progress(way, grid.Bytes(sent), leastSent, time.Now()))
	}
	if !errors.Is(err, io.EOF) { // a damaged blob ends early
		st.Reset()
	}
	r.cfg.tell(way, r.cfg.meter.End(way, grid.Bytes(sent), leastSent, time.Now()))
}

// Transfers of less tell nothing of the bandwidth. A peer that begins to receive has the delay of its first bytes in
// it; one that sends has ended while several MiB are still in the window of the stream and in the kernel.
const (
	leastReceived = 1 << 20
	leastSent     = 32 << 20
)

// tell tells the node what transfers with a peer have achieved, if it is anything.
func (c *Config) tell(way throughput.Way, t grid.Transfer) {
	if t.Bytes == 0 {
		return
	}
	if !way.Sent {
		c.meter.Received.Note(way.Peer, t, time.Now())
	}
	c.Loop.Event(func(ev *grid.Event) {
		ev.Kind, ev.Peer, ev.Transfer = grid.EvTransferred, way.Peer, t
	})
}
