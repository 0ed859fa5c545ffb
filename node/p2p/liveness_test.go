package p2p

import (
	"io"
	"net"
	"path/filepath"
	"sync"
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

// cuttableProxy forwards connections to an address until it is cut: then it accepts data and delivers nothing. While it
// is held it delivers later.
type cuttableProxy struct {
	net.Listener
	to   string
	cut  atomic.Bool
	held sync.RWMutex // locked: it is
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
	for more := true; more; {
		n, err := from.Read(buf)
		more = c.deliver(to, buf[:n], err)
	}
}

// deliver writes what was read, and reports whether to go on.
func (c *cuttableProxy) deliver(to net.Conn, b []byte, err error) bool {
	c.held.RLock()
	defer c.held.RUnlock()
	if c.cut.Load() {
		return err == nil // closing is not forwarded either
	}
	if len(b) > 0 {
		if _, err := to.Write(b); err != nil {
			return false
		}
	}
	if err == io.EOF {
		to.Close()
	}
	return err == nil
}

// How long a peer may be silent after something was sent to it, and then not answer a ping.
const (
	silenceLimit = 3 * time.Second
	pingTimeout  = 4 * time.Second
)

// A machine that loses its power is noticed soon after something was sent to it, and is found again when it is
// back.
func TestSilentPeerIsDisconnected(t *testing.T) {
	t.Parallel() // it waits for the silence
	a, b, line := openPairByProxy(t)
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
	// not through the proxy, which is still cut
	rig.Await(t, "another connection", func() bool { return b.fake.count(grid.EvPeerUp) > 1 })
}

// noticed is within what time a silent neighbour is to be noticed, though nothing is sent to it.
const noticed = 10 * time.Second

// The silence of a neighbour is noticed though nothing is sent to it, by both ends.
func TestSilentNeighbourIsNoticed(t *testing.T) {
	t.Parallel()
	a, b, line := openPairByProxy(t)
	a.keep(b)
	b.keep(a)
	line.cut.Store(true)
	began := time.Now()
	for _, m := range []*member{a, b} {
		rig.Await(t, m.cfg.Name+" hears of the end", func() bool { return m.fake.count(grid.EvPeerDown) > 0 })
		if d := time.Since(began); d > noticed {
			t.Errorf("%s noticed a silent neighbour after %v: want at most %v", m.cfg.Name, d, noticed)
		}
	}
}

// A neighbour that is busy for a while, and answers late, is kept, as is one that says nothing for long.
func TestSlowNeighbourIsKept(t *testing.T) {
	t.Parallel()
	a, b, line := openPairByProxy(t)
	a.keep(b)
	b.keep(a)
	for range 2 {
		time.Sleep(probeAfter - time.Second) // a disconnect would have no other sign
		line.held.Lock()
		time.Sleep(pingTimeout)
		line.held.Unlock()
	}
	time.Sleep(probeAfter)
	for _, m := range []*member{a, b} {
		if m.fake.count(grid.EvPeerDown) > 0 {
			t.Errorf("%s took a slow neighbour for a dead one", m.cfg.Name)
		}
	}
}

// probeAfter is the silence after which a neighbour is pinged.
const probeAfter = 5 * time.Second

// keep makes a peer a neighbour.
func (m *member) keep(peer *member) {
	m.do(func(fx *grid.Effects) { fx.Links = append(fx.Links, grid.Link{Peer: peer.self, Keep: true}) })
}

// openPairByProxy opens two members that are connected through a proxy.
func openPairByProxy(t *testing.T) (a, b *member, line *cuttableProxy) {
	t.Helper()
	a = openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	addr, err := ma.NewMultiaddr(a.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := ma.SplitFunc(addr, func(c ma.Component) bool { return c.Protocol().Code == ma.P_P2P })
	to, err := manet.ToNetAddr(plain)
	if err != nil {
		t.Fatal(err)
	}
	line = newCuttableProxy(t, to.String())
	way, err := manet.FromNetAddr(line.Addr())
	if err != nil {
		t.Fatal(err)
	}
	b = openMember(t, filepath.Join(t.TempDir(), "b"), nil,
		wire.Token{Secret: a.secret, Addrs: []string{way.String() + "/p2p/" + identity.Peer(a.self).String()}}.String())
	waitUp(t, a, b)
	return a, b, line
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
