package p2p

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/seats"
)

// Bounds of serving: streams at a time, for blobs and for outputs each. One more gets "busy", or the place of who holds more.
const (
	servesPerPeer = 32
	servesAll     = 256
)

// newSeats makes the places for a kind of stream.
func newSeats(perNode, most int) *seats.Seats { return &seats.Seats{PerNode: perNode, Most: most} }

// takeSeat takes a place for a stream of a peer, from whoever has to give one, whose stream is broken off; nil if nobody has to.
func (d *Driver) takeSeat(places *seats.Seats, st network.Stream, n grid.NodeID) *seats.Seat {
	now := time.Now()
	c := seats.Claim{Node: n, Net: seats.Net(st.Conn().RemoteMultiaddr()), Known: d.dialer.familiar(n, now), Leave: func() {
		d.counts.drop("given away")
		d.spawn(func() { st.Reset() })
	}}
	seat := places.Take(c, now)
	if seat == nil {
		d.counts.drop("busy")
	}
	return seat
}

// serveStream wraps what every served stream needs: an end with the driver, a peer, a place, which it keeps for a rest, a request of
// so many bytes. What is written to w keeps the place in use.
func (d *Driver) serveStream(st network.Stream, places *seats.Seats, rest time.Duration, request []byte, f func(n grid.NodeID, w servedWriter)) {
	n, ok := nodeOf(st.Conn().RemotePeer())
	if !ok || !d.beginWork() {
		st.Reset()
		return
	}
	defer d.work.Done()
	defer st.Close()
	st.SetDeadline(time.Now().Add(askDeadline))
	seat := d.takeSeat(places, st, n)
	if seat == nil {
		st.Write(append([]byte{statusBusy}, make([]byte, blobAnswer-1)...))
		return
	}
	defer func() {
		if rest == 0 {
			seat.Free()
		} else {
			time.AfterFunc(rest, seat.Free)
		}
	}()
	if _, err := io.ReadFull(st, request); err != nil {
		st.Reset()
		d.counts.drop("request")
		return
	}
	st.SetReadDeadline(time.Time{})
	f(n, servedWriter{st, seat})
}

// serveBlob answers a request for a blob.
func (d *Driver) serveBlob(st network.Stream) {
	var ask [blobRequest]byte
	d.serveStream(st, d.blobsServed, 0, ask[:], func(_ grid.NodeID, w servedWriter) {
		st.CloseRead() // what else the asker says is not kept
		var answer [blobAnswer]byte
		r, size, err := d.blobs.Open(d.ctx, grid.BlobID(ask[:32]))
		offset := binary.BigEndian.Uint64(ask[32:])
		st.SetWriteDeadline(time.Now().Add(askDeadline)) // it may have been hashed first
		if err != nil {
			answer[0] = statusNone
			st.Write(answer[:])
			return
		}
		defer r.Close()
		binary.BigEndian.PutUint64(answer[1:], uint64(size))
		if _, err := st.Write(answer[:]); err != nil || offset > uint64(size) || r.Resume(grid.Bytes(offset)) != nil {
			st.Reset()
			return
		}
		if _, err := io.Copy(w, r); err != nil { // a blob that is damaged does not come to its end
			st.Reset()
		}
	})
}

// servePiece is how many bytes must be taken in serveStall.
const servePiece = 32 << 10

// servedWriter writes to a stream as long as the other side takes a piece now and then.
type servedWriter struct {
	st   network.Stream
	seat *seats.Seat
}

func (p servedWriter) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		p.st.SetWriteDeadline(time.Now().Add(serveStall))
		var wrote int
		wrote, err = p.st.Write(b[n:min(n+servePiece, len(b))])
		n += wrote
		p.seat.Use(time.Now())
	}
	return n, err
}
