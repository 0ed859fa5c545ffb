package p2p

import (
	"cmp"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
)

// Bounds of serving: streams at a time, for blobs and for outputs each. One more gets "busy".
const (
	servesPerPeer = 32
	servesAll     = 256
)

// serving counts the streams that are being served, by peer.
type serving struct {
	perPeer, most int           // bounds; 0: servesPerPeer, servesAll
	rest          time.Duration // for which a place stays taken when it has served

	mu    sync.Mutex
	all   int
	peers map[grid.NodeID]int
}

// enter takes a place; false if there is none left.
func (s *serving) enter(n grid.NodeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= cmp.Or(s.most, servesAll) || s.peers[n] >= cmp.Or(s.perPeer, servesPerPeer) {
		return false
	}
	if s.peers == nil {
		s.peers = make(map[grid.NodeID]int)
	}
	s.all++
	s.peers[n]++
	return true
}

func (s *serving) leave(n grid.NodeID) {
	if s.rest > 0 {
		time.AfterFunc(s.rest, func() { s.free(n) })
		return
	}
	s.free(n)
}

func (s *serving) free(n grid.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.peers[n]--; s.peers[n] == 0 {
		delete(s.peers, n)
	}
}

// serveStream wraps what every served stream needs: an end with the driver, a peer, a place, a request of
// so many bytes.
func (d *Driver) serveStream(st network.Stream, places *serving, request []byte, f func(n grid.NodeID)) {
	n, ok := nodeOf(st.Conn().RemotePeer())
	if !ok || !d.begin() {
		st.Reset()
		return
	}
	defer d.work.Done()
	defer st.Close()
	st.SetDeadline(time.Now().Add(askDeadline))
	if _, err := io.ReadFull(st, request); err != nil {
		st.Reset()
		d.counts.drop("request")
		return
	}
	st.SetReadDeadline(time.Time{})
	if !places.enter(n) {
		d.counts.drop("busy")
		st.Write(append([]byte{statusBusy}, make([]byte, blobAnswer-1)...))
		return
	}
	defer places.leave(n)
	f(n)
}

// serveBlob answers a request for a blob.
func (d *Driver) serveBlob(st network.Stream) {
	var ask [blobRequest]byte
	d.serveStream(st, &d.blobsServed, ask[:], func(grid.NodeID) {
		var answer [blobAnswer]byte
		f, size, err := d.blobs.Open(grid.BlobID(ask[:32]))
		offset := binary.BigEndian.Uint64(ask[32:])
		if err != nil {
			answer[0] = statusNone
			st.Write(answer[:])
			return
		}
		defer f.Close()
		binary.BigEndian.PutUint64(answer[1:], uint64(size))
		if _, err := st.Write(answer[:]); err != nil || offset > uint64(size) {
			st.Reset()
			return
		}
		if _, err := io.Copy(patient{st}, io.NewSectionReader(f, int64(offset), int64(size)-int64(offset))); err != nil {
			st.Reset()
		}
	})
}

// servePiece is how many bytes must be taken in serveStall.
const servePiece = 32 << 10

// patient writes to a stream as long as the other side takes a piece now and then.
type patient struct{ st network.Stream }

func (p patient) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		p.st.SetWriteDeadline(time.Now().Add(serveStall))
		var wrote int
		wrote, err = p.st.Write(b[n:min(n+servePiece, len(b))])
		n += wrote
	}
	return n, err
}
