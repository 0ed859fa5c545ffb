package rig

import (
	"net"
	"sync/atomic"
	"testing"
)

// ThirdParty is a listener that is no node: it counts connections.
type ThirdParty struct {
	net.Listener
	count atomic.Int64
}

// ListenThirdParty listens on loopback until the test ends.
func ListenThirdParty(t testing.TB) *ThirdParty {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &ThirdParty{Listener: l}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.count.Add(1)
			c.Close()
		}
	}()
	return b
}

// Connections returns the number of connections so far.
func (b *ThirdParty) Connections() int64 { return b.count.Load() }
