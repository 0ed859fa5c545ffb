package p2p

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport"
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
			return strings.Contains(s, identity.Peer(a.self).String()+"/p2p-circuit/p2p/")
		})
	}
	for _, m := range []*member{b, c} {
		rig.Await(t, m.cfg.Name+" has a relay", func() bool { return through(m) })
	}
	if through(a) {
		t.Errorf("who can be dialled has a relay: %v", a.Addrs())
	}
	began := time.Now()
	rig.Dial(t, b.transport.Host(), c.Addrs())
	waitUp(t, a, b, c)
	for _, conn := range b.transport.Host().Network().ConnsToPeer(identity.Peer(c.self)) {
		if !transport.Relayed(conn.RemoteMultiaddr()) && time.Since(began) < 30*time.Second {
			t.Errorf("b is connected to c at %s", conn.RemoteMultiaddr())
		}
	}
	f := c.put("f", noiseOf(1, 1<<20), false)
	if err := b.runner.Get(context.Background(), c.self, &f); err != nil || !b.hasBlob(f) {
		t.Errorf("fetch through the relay: %v", err)
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
