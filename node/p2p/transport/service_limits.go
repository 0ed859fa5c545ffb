package transport

import (
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
)

// streams bounds the streams of each direction, those of both, and their memory.
func streams(each, both int, memory int64) rcmgr.BaseLimit {
	return rcmgr.BaseLimit{StreamsInbound: each, StreamsOutbound: each, Streams: both, Memory: memory}
}

// growingBy returns what is added to a bound for each GiB of memory above the first 128 MiB.
func growingBy(each, both int, memory int64) rcmgr.BaseLimitIncrease {
	return rcmgr.BaseLimitIncrease{StreamsInbound: each, StreamsOutbound: each, Streams: both, Memory: memory}
}

// addServiceLimits bounds those services of libp2p that a node uses, by the bounds that libp2p sets. Its own
// function links every transport; a test compares the two.
func addServiceLimits(to *rcmgr.ScalingLimitConfig) {
	fixed := rcmgr.BaseLimitIncrease{}

	to.AddServiceLimit(identify.ServiceName, streams(64, 128, 4<<20), growingBy(64, 128, 4<<20))
	to.AddServicePeerLimit(identify.ServiceName, streams(16, 32, 1<<20), fixed)
	for _, id := range []protocol.ID{identify.ID, identify.IDPush} {
		to.AddProtocolLimit(id, streams(64, 128, 4<<20), growingBy(64, 128, 4<<20))
		to.AddProtocolPeerLimit(id, streams(16, 32, 32*(256<<20+16<<10)), fixed)
	}

	to.AddServiceLimit(holepunch.ServiceName, streams(32, 64, 4<<20), growingBy(8, 16, 4<<20))
	to.AddServicePeerLimit(holepunch.ServiceName, streams(2, 2, 1<<20), fixed)
	to.AddProtocolLimit(holepunch.Protocol, streams(32, 64, 4<<20), growingBy(8, 16, 4<<20))
	to.AddProtocolPeerLimit(holepunch.Protocol, streams(2, 2, 1<<20), fixed)

	to.AddServiceLimit(relay.ServiceName, streams(256, 256, 16<<20), growingBy(256, 256, 16<<20))
	to.AddServicePeerLimit(relay.ServiceName, streams(64, 64, 1<<20), fixed)
	for _, id := range []protocol.ID{proto.ProtoIDv2Hop, proto.ProtoIDv2Stop} {
		to.AddProtocolLimit(id, streams(640, 640, 16<<20), growingBy(640, 640, 16<<20))
		to.AddProtocolPeerLimit(id, streams(128, 128, 32<<20), fixed)
	}
}
