package p2p

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/seats"
)

// Bounds of served streams, for blobs and for outputs each. A stream beyond them gets "busy", or the seat of a peer
// that holds more.
const (
	servesPerPeer = 32
	servesAll     = 256
)

// newSeats makes the admission control of a kind of stream.
func newSeats(perNode, most int) *seats.Seats { return &seats.Seats{PerNode: perNode, Max: most} }

// takeSeat takes a seat for a stream of a peer, from another peer if need be, whose stream is then reset; nil if
// there is none.
func (d *Driver) takeSeat(pool *seats.Seats, st network.Stream, n grid.NodeID) *seats.Seat {
	now := time.Now()
	c := seats.Claim{Node: n, Net: seats.Net(st.Conn().RemoteMultiaddr()), Familiar: d.dialer.familiar(n, now), OnEvict: func() {
		d.counts.drop("given away")
		d.spawn(func() { st.Reset() })
	}}
	seat := pool.Take(c, now)
	if seat == nil {
		d.counts.drop("busy")
	}
	return seat
}

// serveStream does what every served stream needs: it ends with the driver, has a known peer, takes a seat, which
// it keeps for cooldown after the answer, and reads a request of fixed size. Writing to w marks the seat as used.
func (d *Driver) serveStream(st network.Stream, pool *seats.Seats, cooldown time.Duration, request []byte, f func(n grid.NodeID, w servedWriter)) {
	n, ok := nodeOf(st.Conn().RemotePeer())
	if !ok || !d.beginWork() {
		st.Reset()
		return
	}
	defer d.work.Done()
	defer st.Close()
	st.SetDeadline(time.Now().Add(askDeadline))
	seat := d.takeSeat(pool, st, n)
	if seat == nil {
		st.Write(append([]byte{statusBusy}, make([]byte, blobAnswer-1)...))
		return
	}
	defer func() {
		if cooldown == 0 {
			seat.Free()
		} else {
			time.AfterFunc(cooldown, seat.Free)
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
	var request [blobRequest]byte
	d.serveStream(st, d.blobsServed, 0, request[:], func(_ grid.NodeID, w servedWriter) {
		st.CloseRead() // nothing more is read from the peer
		var answer [blobAnswer]byte
		r, size, err := d.blobs.Open(d.ctx, grid.BlobID(request[:32]))
		offset := binary.BigEndian.Uint64(request[32:])
		st.SetWriteDeadline(time.Now().Add(askDeadline)) // Open may have had to hash it first
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
		if _, err := io.Copy(w, r); err != nil { // a damaged blob ends early
			st.Reset()
		}
	})
}

// servePiece is the number of bytes that the reader must take within serveStall.
const servePiece = 32 << 10

// servedWriter writes to a stream as long as the reader keeps taking data.
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
