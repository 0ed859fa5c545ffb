package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// holder is a node that has a blob.
type holder struct {
	fakePeers
	node grid.NodeID
}

func (h holder) Connected() []grid.NodeID       { return []grid.NodeID{h.node} }
func (h holder) IsConnected(n grid.NodeID) bool { return n == h.node }
func (holder) Offend(grid.NodeID, string, int)  {}

// oneWay is a stream whose other side does not wait for its end.
type oneWay struct{ *fakeStream }

func (oneWay) SetDeadline(time.Time) error { return nil }
func (oneWay) CloseWrite() error           { return nil }
func (oneWay) CloseRead() error            { return nil }

// What a transfer with a peer has achieved the node is told, if it was large enough to tell something.
func TestTransfersAreMeasured(t *testing.T) {
	peer := grid.NodeID{5}
	for _, c := range []struct {
		size grid.Bytes
		told int
	}{{leastReceived - 1, 0}, {leastReceived, 1}} {
		r, l := openRunner(t)
		content := make([]byte, c.size)
		answer := append([]byte{wire.StatusOK}, binary.BigEndian.AppendUint64(nil, uint64(c.size))...)
		var st network.Stream = oneWay{newFakeStream(io.MultiReader(bytes.NewReader(answer), bytes.NewReader(content)))}
		r.cfg.Peers = holder{fakePeers{st: st}, peer}
		file := grid.File{Path: "f", Blob: grid.BlobID(sha256.Sum256(content)), Size: c.size}
		if err := r.fetcher.get(t.Context(), peer, &file); err != nil {
			t.Fatal(err)
		}
		if n := l.count(grid.EvTransferred); n != c.told {
			t.Errorf("%d bytes received: told %d times, want %d", c.size, n, c.told)
		}
		if ev := l.last(grid.EvTransferred); c.told > 0 && (ev.Peer != peer || ev.Bytes != c.size || ev.Took <= 0) {
			t.Errorf("%+v", ev.Transfer)
		}
		request := append(file.Blob[:], make([]byte, 8)...)
		r.ServeBlob(peer, oneWay{newFakeStream(nil)}, request, io.Discard)
		if n := l.count(grid.EvTransferred); n != c.told {
			t.Errorf("%d bytes sent, most of them perhaps not received: the node is told", c.size)
		}
	}
	r, l := openRunner(t)
	content := make([]byte, leastSent)
	id, _, err := r.cfg.Blobs.Put(t.Context(), bytes.NewReader(content), leastSent, false)
	if err != nil {
		t.Fatal(err)
	}
	r.ServeBlob(peer, oneWay{newFakeStream(nil)}, append(id[:], make([]byte, 8)...), io.Discard)
	if ev := l.last(grid.EvTransferred); ev.Peer != peer || ev.Bytes != leastSent || ev.Took <= 0 {
		t.Errorf("%d bytes sent: %+v", leastSent, ev.Transfer)
	}
}

// A long transfer is measured while it goes on: what is given out meanwhile would else all come from a slow peer.
func TestLongTransfersAreMeasuredBeforeTheirEnd(t *testing.T) {
	const size = 2*leastProgress + leastReceived
	peer := grid.NodeID{5}
	r, l := openRunner(t)
	content := make([]byte, size)
	answer := append([]byte{wire.StatusOK}, binary.BigEndian.AppendUint64(nil, size)...)
	var st network.Stream = oneWay{newFakeStream(io.MultiReader(bytes.NewReader(answer), bytes.NewReader(content)))}
	r.cfg.Peers = holder{fakePeers{st: st}, peer}
	file := grid.File{Path: "f", Blob: grid.BlobID(sha256.Sum256(content)), Size: size}
	if err := r.fetcher.get(t.Context(), peer, &file); err != nil {
		t.Fatal(err)
	}
	if n := l.count(grid.EvTransferred); n < 2 {
		t.Errorf("told %d times, want before the end and at it", n)
	}
}
