package transport

import (
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/transport/admission"
	"skep/node/p2p/wire"
)

// newSeats makes the admission control of a kind of stream.
func newSeats(perNode, most int) *admission.Seats {
	return &admission.Seats{PerNode: perNode, Max: most}
}

// takeSeat takes a seat for a stream of a peer, from another peer if need be, whose stream is then reset; nil if
// there is none.
func (t *Transport) takeSeat(pool *admission.Seats, st network.Stream, n grid.NodeID) *admission.Seat {
	now := time.Now()
	from := admission.Net(st.Conn().RemoteMultiaddr())
	c := admission.Claim{Node: n, Net: from, Familiar: t.contacts.Familiar(n, now), OnEvict: func() {
		t.cfg.Drop("given away")
		t.work.Go(func() { st.Reset() })
	}}
	seat := pool.Take(c, now)
	if seat == nil {
		t.cfg.Drop("busy")
	}
	return seat
}

// busyAnswer is the answer to a request for which there is no seat: that of a blob stream, the longest.
var busyAnswer = append([]byte{wire.StatusBusy}, make([]byte, 8)...)

// serve does what every served stream needs: it ends with the transport, has a known peer, takes a seat, and reads
// the request. Writing the answer marks the seat as used.
func (t *Transport) serve(s *Service, st network.Stream) {
	n, ok := identity.Node(st.Conn().RemotePeer())
	if !ok || !t.work.Begin() {
		st.Reset()
		return
	}
	defer t.work.Done()
	defer st.Close()
	st.SetDeadline(time.Now().Add(askDeadline))
	seat := t.takeSeat(t.served[s.Protocol], st, n)
	if seat == nil {
		st.Write(busyAnswer)
		return
	}
	defer func() {
		if s.Cooldown == 0 {
			seat.Free()
		} else {
			time.AfterFunc(s.Cooldown, func() { seat.Free() })
		}
	}()
	request := make([]byte, s.Request)
	if _, err := io.ReadFull(st, request); err != nil {
		st.Reset()
		t.cfg.Drop("request")
		return
	}
	st.SetReadDeadline(time.Time{})
	if s.ServeLong != nil {
		s.ServeLong(n, st, request, servedWriter{st, seat}, seat.Free)
		return
	}
	s.Serve(n, st, request, servedWriter{st, seat})
}

// servePiece is the number of bytes that the reader must take within serveStall.
const servePiece = 32 << 10

// servedWriter writes to a stream as long as the reader keeps taking data.
type servedWriter struct {
	st   network.Stream
	seat *admission.Seat
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
