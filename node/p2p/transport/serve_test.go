package transport

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/transport/admission"
)

func TestServedStreamsAreBounded(t *testing.T) {
	s := newSeats(ServesPerPeer, ServesAll)
	var taken []*admission.Seat
	for range ServesPerPeer {
		seat := s.Take(admission.Claim{Node: grid.NodeID{1}}, time.Now())
		if seat == nil {
			t.Fatal("no place")
		}
		taken = append(taken, seat)
	}
	if s.Take(admission.Claim{Node: grid.NodeID{1}}, time.Now()) != nil {
		t.Errorf("more than %d streams for one peer", ServesPerPeer)
	}
	if s.Take(admission.Claim{Node: grid.NodeID{2}}, time.Now()) == nil {
		t.Error("no place for another peer")
	}
	for _, seat := range taken {
		seat.Free()
	}
	if s.Take(admission.Claim{Node: grid.NodeID{1}}, time.Now()) == nil || s.Taken() != 2 {
		t.Error("places are not given back")
	}
}
