package reachability

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/internal/hostile"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

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
	both := func(c *transport.Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/0", "/ip6/::1/tcp/0"} }
	a := openNode(t, nil)
	b, err := tryOpenNode(t, both, a.token())
	if err != nil {
		t.Skip(err)
	}
	waitUp(t, a, b)
	c := otherLocalAddr{transport.DirectConn(b.host, a.host.ID()), ma.StringCast("/ip6/::1/tcp/1")}
	if at, err := b.askReach(c); err != nil || at == nil || !strings.HasPrefix(at.String(), "/ip4/127.0.0.1/tcp/") {
		t.Errorf("a dials b at %v, %v: want b's address of IPv4", at, err)
	}
}

// A peer dials the asker's own address only, and confirms it only if the asker answers there: not if another
// machine behind the same router does.
func TestReachDialsTheAskerOnly(t *testing.T) {
	a, b := openPair(t)
	rig.Await(t, "a dials b at "+b.listenAddr(), func() bool {
		at, err := b.askReach(transport.DirectConn(b.host, a.host.ID()))
		return err == nil && at != nil && at.String() == b.listenAddr()
	})
	other := openNode(t, nil, a.token())
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
	r := newRelays(b.Network)
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
	rig.Await(t, "a can dial b", func() bool {
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
			st.Write(append([]byte{wire.StatusOK, byte(len(addr))}, addr...))
			st.Close()
		})
		if at, err := b.askReach(transport.DirectConn(b.host, a.host.ID())); err == nil {
			t.Errorf("told %s: taken as %v", said, at)
		}
	}
}

// Dials on behalf of others are limited: a seat is free again only some time after the answer.
func TestReachIsBounded(t *testing.T) {
	a := openNode(t, nil)
	m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	answered := func() bool {
		st, err := m.Stream(t.Context(), a.cfg.Self, hostile.Reach)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Reset()
		st.SetDeadline(time.Now().Add(time.Minute))
		st.Write([]byte{0, 1})
		answer := make([]byte, 1)
		if _, err := io.ReadFull(st, answer); err != nil {
			t.Fatal(err)
		}
		return answer[0] != wire.StatusBusy
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
