package transport

import (
	"net"
	"sync/atomic"
	"testing"
)

// thirdParty is a listener that is no node: it counts connections.
type thirdParty struct {
	net.Listener
	count atomic.Int64
}

func listenThirdParty(t testing.TB) *thirdParty {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &thirdParty{Listener: l}
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

func (b *thirdParty) connections() int64 { return b.count.Load() }
