package p2p

import (
	"net"
	"sync/atomic"
	"testing"
)

// bystander is a third party that is no node: it counts who connects to it.
type bystander struct {
	net.Listener
	count atomic.Int64
}

func listen(t testing.TB) *bystander {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bystander{Listener: l}
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

func (b *bystander) met() int64 { return b.count.Load() }
