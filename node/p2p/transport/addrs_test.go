package transport

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

func TestOnlyLoopback(t *testing.T) {
	for _, tt := range []struct {
		listen []string
		want   bool
	}{
		{[]string{"/ip4/127.0.0.1/tcp/0", "/ip6/::1/tcp/0"}, true},
		{[]string{"/ip4/127.0.0.1/tcp/0", "/ip4/0.0.0.0/tcp/0"}, false},
		{[]string{"/ip4/192.0.2.1/tcp/0"}, false},
	} {
		if got := onlyLoopback(tt.listen); got != tt.want {
			t.Errorf("listening on %v is only the loopback: %v", tt.listen, got)
		}
	}
}

// The limits of relaying are the same on any machine.
func TestRelayLimits(t *testing.T) {
	r, err := newResources(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.ViewService(relay.ServiceName, func(s network.ServiceScope) error {
		span, err := s.BeginSpan()
		if err != nil {
			return err
		}
		defer span.Done()
		for i := range maxRelayedConns {
			if err := span.ReserveMemory(2*relaying.BufferSize, network.ReservationPriorityHigh); err != nil {
				return fmt.Errorf("connection %d: %w", i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
