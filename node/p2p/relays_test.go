package p2p

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/node/p2p/hostile"
)

// Two nodes that cannot be dialled, since they listen to another protocol than the one they dial by, connect
// through the node that both have joined.
func TestHiddenNodesConnectThroughARelay(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip(err)
	} else {
		l.Close()
	}
	dir := t.TempDir()
	hidden := func(c *Config) { c.Listen = []string{"/ip6/::1/tcp/0"} }
	a := openMember(t, filepath.Join(dir, "a"), nil)
	b := openMember(t, filepath.Join(dir, "b"), hidden, a.token())
	c := openMember(t, filepath.Join(dir, "c"), hidden, a.token())
	through := func(m *member) bool {
		return slices.ContainsFunc(m.Addrs(), func(s string) bool {
			return strings.Contains(s, a.host.ID().String()+"/p2p-circuit/p2p/")
		})
	}
	for _, m := range []*member{b, c} {
		await(t, m.cfg.Name+" has a relay", func() bool { return through(m) })
	}
	if through(a) {
		t.Errorf("who can be dialled has a relay: %v", a.Addrs())
	}
	began := time.Now()
	b.dialer.discovered(c.self, published(c.host.Addrs()))
	waitUp(t, a, b, c)
	for _, conn := range b.host.Network().ConnsToPeer(c.host.ID()) {
		if !relayed(conn.RemoteMultiaddr()) && time.Since(began) < minDirectRetry {
			t.Errorf("b is connected to c at %s", conn.RemoteMultiaddr())
		}
	}
	f := c.put("f", noiseOf(1, 1<<20), false)
	if err := b.fetches.get(context.Background(), c.self, &f); err != nil || !b.hasBlob(f) {
		t.Errorf("fetch through the relay: %v", err)
	}
}

// otherLocalAddr is a connection as if from another address of this node.
type otherLocalAddr struct {
	network.Conn
	local ma.Multiaddr
}

// LocalMultiaddr returns that address.
func (c otherLocalAddr) LocalMultiaddr() ma.Multiaddr { return c.local }

// Two nodes may have two connections, by IPv4 and by IPv6. The port in a reach request is that of the connection
// that the request uses.
func TestReachUsesThePortOfItsConnection(t *testing.T) {
	both := func(c *Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/0", "/ip6/::1/tcp/0"} }
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b, err := tryOpenMember(t, filepath.Join(t.TempDir(), "b"), both, a.token())
	if err != nil {
		t.Skip(err)
	}
	waitUp(t, a, b)
	c := otherLocalAddr{directTo(b.host, a.host.ID()), ma.StringCast("/ip6/::1/tcp/1")}
	if at, err := b.askReach(c); err != nil || at == nil || !strings.HasPrefix(at.String(), "/ip4/127.0.0.1/tcp/") {
		t.Errorf("a dials b at %v, %v: want b's address of IPv4", at, err)
	}
}

// A peer dials the asker's own address only, and confirms it only if the asker answers there: not if another
// machine behind the same router does.
func TestReachDialsTheAskerOnly(t *testing.T) {
	a, b := openPair(t)
	await(t, "a dials b at "+b.listenAddr(), func() bool {
		at, err := b.askReach(directTo(b.host, a.host.ID()))
		return err == nil && at != nil && at.String() == b.listenAddr()
	})
	other := openMember(t, filepath.Join(t.TempDir(), "other"), nil, a.token())
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for c, err := mute.Accept(); err == nil; c, err = mute.Accept() {
			c.Close()
		}
	}()
	silent, err := manet.FromNetAddr(mute.Addr())
	if err != nil {
		t.Fatal(err)
	}
	own := ma.StringCast(b.listenAddr())
	for what, seen := range map[string]ma.Multiaddr{
		"another member answers": ma.StringCast(other.listenAddr()),
		"no member answers":      silent,
		"a relay is seen":        own.Encapsulate(ma.StringCast("/p2p/" + a.host.ID().String() + "/p2p-circuit")),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), reachDialTimeout)
		if at, _ := a.tryDial(ctx, b.host.ID(), seen, portOf(t, seen)); at != nil {
			t.Errorf("%s: b was dialled at %s", what, at)
		}
		cancel()
	}
}

func portOf(t *testing.T, a ma.Multiaddr) uint16 {
	t.Helper()
	text, err := a.ValueForProtocol(ma.P_TCP)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// A confirmed address is forgotten when the peer cannot dial it any more.
func TestReachabilityIsForgotten(t *testing.T) {
	a, b := openPair(t)
	r := newRelays(b.Driver)
	var err error
	if r.addrsUpdated, err = b.host.EventBus().Emitter(new(event.EvtAutoRelayAddrsUpdated)); err != nil {
		t.Fatal(err)
	}
	defer r.addrsUpdated.Close()
	p := a.host.ID()
	at := func() ma.Multiaddr {
		if r.probes[p] == nil {
			return nil
		}
		return r.probes[p].dialledAt
	}
	await(t, "a can dial b", func() bool {
		delete(r.probes, p) // under load a try may take too long
		r.check()
		return at() != nil
	})
	b.host.Network().(*swarm.Swarm).ListenClose(b.host.Network().ListenAddresses()...)
	r.check()
	if at() == nil {
		t.Error("a was asked again at once")
	}
	r.probes[p].next = time.Now()
	if r.check(); at() != nil {
		t.Errorf("b does not listen any more, and says that it is dialled at %s", at())
	}
}

// A confirmed address is published for others to dial, so the answer must be about the requested port.
func TestFalseReachAnswer(t *testing.T) {
	a, b := openPair(t)
	for _, said := range []string{"/ip4/192.0.2.1/tcp/80", "/ip4/192.0.2.1/udp/80", "/ip4/192.0.2.1"} {
		addr := ma.StringCast(said).Bytes()
		a.host.SetStreamHandler(reachProtocol, func(st network.Stream) {
			st.Write(append([]byte{statusOK, byte(len(addr))}, addr...))
			st.Close()
		})
		if at, err := b.askReach(directTo(b.host, a.host.ID())); err == nil {
			t.Errorf("told %s: taken as %v", said, at)
		}
	}
}

// Dials on behalf of others are limited: a seat is free again only some time after the answer.
func TestReachIsBounded(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	m := attacker(t, a)
	answered := func() bool {
		st, err := m.Stream(t.Context(), a.self, hostile.Reach)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Reset()
		st.SetDeadline(time.Now().Add(testTimeout))
		st.Write([]byte{0, 1})
		answer := make([]byte, 1)
		if _, err := io.ReadFull(st, answer); err != nil {
			t.Fatal(err)
		}
		return answer[0] != statusBusy
	}
	for i := range reachPerPeer {
		if !answered() {
			t.Errorf("question %d is not answered", i+1)
		}
	}
	if answered() {
		t.Errorf("more than %d questions are answered within %v", reachPerPeer, reachCooldown)
	}
}

// The operator's announced address comes first, also in the token.
func TestAnnouncedAddress(t *testing.T) {
	const outside = "/ip4/203.0.113.7/tcp/7420"
	a := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) {
		c.Announce, c.Listen = []string{outside}, []string{"/ip4/0.0.0.0/tcp/0"}
	})
	if addrs := a.Addrs(); !strings.HasPrefix(addrs[0], outside+"/p2p/") {
		t.Errorf("addresses %v", addrs)
	}
	for bad, want := range map[string]string{
		"203.0.113.7:7420":       "want a multiaddress",
		"/ip4/0.0.0.0/tcp/7420":  "others cannot dial that",
		"/ip4/203.0.113.7/tcp/0": "others cannot dial that",
		"/ip4/203.0.113.7/udp/1": "want /ip4/ADDRESS/tcp/PORT",
	} {
		_, err := tryOpenMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.Announce = []string{bad} })
		if err == nil || !strings.Contains(err.Error(), "announced address") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}
