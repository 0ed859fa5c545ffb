package p2p

import (
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// cuttableProxy forwards connections to an address until it is cut: then it accepts data and delivers nothing.
type cuttableProxy struct {
	net.Listener
	to  string
	cut atomic.Bool
}

func newCuttableProxy(t *testing.T, to string) *cuttableProxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cuttableProxy{Listener: l, to: to}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			t.Cleanup(func() { a.Close(); b.Close() })
			go c.forward(a, b)
			go c.forward(b, a)
		}
	}()
	return c
}

func (c *cuttableProxy) forward(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if c.cut.Load() {
			if err == nil {
				continue
			}
			return // closing is not forwarded either
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				to.Close()
			}
			return
		}
	}
}

// How long a peer may be silent after something was sent to it, and then not answer a ping.
const (
	silenceLimit = 3 * time.Second
	pingTimeout  = 5 * time.Second
)

// A machine that loses its power is noticed soon after something was sent to it, and is found again when it is
// back.
func TestSilentPeerIsDisconnected(t *testing.T) {
	t.Parallel() // it waits for the silence
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	addr, err := ma.NewMultiaddr(a.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := ma.SplitFunc(addr, func(c ma.Component) bool { return c.Protocol().Code == ma.P_P2P })
	to, err := manet.ToNetAddr(plain)
	if err != nil {
		t.Fatal(err)
	}
	line := newCuttableProxy(t, to.String())
	way, err := manet.FromNetAddr(line.Addr())
	if err != nil {
		t.Fatal(err)
	}
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, wire.Token{Secret: a.secret, Addrs: []string{way.String() + "/p2p/" + identity.Peer(a.self).String()}}.String())
	waitUp(t, a, b)
	line.cut.Store(true)
	began := time.Now()
	var asked time.Time
	rig.Await(t, "the end of the connection", func() bool {
		if time.Since(asked) > 100*time.Millisecond { // frames sent before the cut may arrive after the first poll
			asked = time.Now()
			b.poll(a)
		}
		return b.fake.count(grid.EvPeerDown) > 0
	})
	if d := time.Since(began); d > silenceLimit+pingTimeout+4*time.Second {
		t.Errorf("a peer that is silent was given up after %v: want %v or a little more", d, silenceLimit+pingTimeout)
	}
	rig.Await(t, "another connection", func() bool { return b.fake.count(grid.EvPeerUp) > 1 }) // not through the proxy, which is still cut
}

// A peer that sends nothing, but is alive, is kept.
func TestQuietLivePeerIsKept(t *testing.T) {
	t.Parallel()
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	b.poll(a)
	time.Sleep(silenceLimit + pingTimeout/2) // a disconnect would have no other sign
	if b.fake.count(grid.EvPeerDown) > 0 || !b.fake.isUp(a.self) {
		t.Error("a quiet peer was taken for a dead one")
	}
}

// poll sends something to a peer that need not be answered.
func (m *member) poll(to *member) {
	m.t.Helper()
	m.do(func(fx *grid.Effects) {
		ask := fx.Send(to.self, grid.KindAsk)
		ask.Attempts = []grid.AttemptID{{Task: grid.TaskID{Job: m.job(9)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}}
	})
}
