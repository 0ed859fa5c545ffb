package transport

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/node/p2p/ports"
)

// All connections of gangs that a node carries with another fit beside the lists of ports in both directions, and those
// beside as many streams of others as there may be without.
func TestConnectionsOfGangsLeaveRoom(t *testing.T) {
	const files = "/files"
	r, err := newResources([]Service{{Protocol: files, Inbound: ServesPerPeer},
		{Protocol: ports.Protocol, Inbound: ports.Inbound, Outbound: ports.Outbound}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	open := func(what string, count int, dir network.Direction, id protocol.ID) {
		t.Helper()
		for i := range count {
			s, err := r.OpenStream(peer.ID("peer"), dir)
			if err == nil {
				err = s.SetProtocol(id)
			}
			if err == nil {
				err = r.ViewPeer("peer", func(p network.PeerScope) error { // as the multiplexer does for its window
					return p.ReserveMemory(memoryStream, network.ReservationPriorityAlways)
				})
			}
			if err != nil {
				t.Fatalf("%s: stream %d of %d: %v", what, i+1, count, err)
			}
		}
	}
	open("connections that begin here", ports.MostWithNode, network.DirOutbound, ports.Protocol)
	open("lists from there", ports.Outbound-ports.MostWithNode, network.DirOutbound, ports.Protocol)
	open("lists from here", ports.Outbound-ports.MostWithNode, network.DirInbound, ports.Protocol)
	open("other streams that begin here", outboundStreams, network.DirOutbound, files)
	open("other streams that come", ServesPerPeer, network.DirInbound, files)
}
