package p2p

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Two nodes that nobody can dial, since they listen to another protocol than the one they dial by, meet through the node that both
// have joined.
func TestHiddenNodesMeetThroughARelay(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip(err)
	} else {
		l.Close()
	}
	dir := t.TempDir()
	hidden := func(c *Config) { c.Listen = []string{"/ip6/::1/tcp/0"} }
	a := begin(t, filepath.Join(dir, "a"), nil)
	b := begin(t, filepath.Join(dir, "b"), hidden, a.token())
	c := begin(t, filepath.Join(dir, "c"), hidden, a.token())
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
	b.dialer.found(c.self, published(c.host.Addrs()))
	meet(t, a, b, c)
	for _, conn := range b.host.Network().ConnsToPeer(c.host.ID()) {
		if !relayed(conn.RemoteMultiaddr()) && time.Since(began) < nextDirect {
			t.Errorf("b is connected to c at %s", conn.RemoteMultiaddr())
		}
	}
	f := c.put("f", noiseOf(1, 1<<20), false)
	if err := b.fetches.get(context.Background(), c.self, &f); err != nil || !b.holds(f) {
		t.Errorf("fetch through the relay: %v", err)
	}
}

// A peer tries the asker's own address only, and says where it got an answer.
func TestPeerTriesToDialTheAsker(t *testing.T) {
	a, b := pair(t)
	at, err := b.askReach(directTo(b.host, a.host.ID()))
	if err != nil || at == nil || at.String() != b.listening() {
		t.Errorf("b listens on %s, and a dials it at %v, %v", b.listening(), at, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if at := tryDial(t.Context(), seen, port); at == nil || !at.Equal(seen) {
		t.Errorf("dialled at %v, want %s", at, seen)
	}
	if at := tryDial(t.Context(), seen.Encapsulate(ma.StringCast("/p2p/"+a.host.ID().String()+"/p2p-circuit")), port); at != nil {
		t.Errorf("the relay, %s, was dialled instead of the asker", at)
	}
	l.Close()
	if at := tryDial(t.Context(), seen, port); at != nil {
		t.Errorf("dialled at %s, where nobody listens", at)
	}
}

// What the operator announces comes first, also in the token.
func TestAnnouncedAddress(t *testing.T) {
	const outside = "/ip4/203.0.113.7/tcp/7420"
	a := begin(t, filepath.Join(t.TempDir(), "a"), func(c *Config) {
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
		_, err := try(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.Announce = []string{bad} })
		if err == nil || !strings.Contains(err.Error(), "announced address") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}
