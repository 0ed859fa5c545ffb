package transport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/host/autonat"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// The services of libp2p are bounded as libp2p bounds them by default. A node serves neither ping nor AutoNAT.
func TestServiceLimitsAreThoseOfLibp2p(t *testing.T) {
	own, theirs := rcmgr.DefaultLimits, rcmgr.DefaultLimits
	addServiceLimits(&own)
	libp2p.SetDefaultServiceLimits(&theirs)
	for _, unused := range []string{ping.ServiceName, autonat.ServiceName} {
		delete(theirs.ServiceLimits, unused)
		delete(theirs.ServicePeerLimits, unused)
	}
	delete(theirs.ProtocolLimits, ping.ID)
	delete(theirs.ProtocolPeerLimits, ping.ID)
	delete(theirs.ProtocolLimits, autonat.AutoNATProto)
	delete(theirs.ProtocolPeerLimits, autonat.AutoNATProto)
	const machine, files = 8 << 30, 1 << 16
	want, got := theirs.Scale(machine, files).ToPartialLimitConfig(), own.Scale(machine, files).ToPartialLimitConfig()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bounds differ from libp2p's (-theirs +own):\n%s", diff)
	}
}
