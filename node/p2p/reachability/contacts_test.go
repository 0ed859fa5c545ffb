package reachability

import (
	"testing"
	"time"

	"github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport"
)

func TestRetryAfter(t *testing.T) {
	last := time.Duration(0)
	for failed := range 40 {
		least, most := retryAfter(failed, 0), retryAfter(failed, 1)
		if least < minRetry/2 || most > maxRetry || least*2 != most || most < last {
			t.Errorf("after %d failures: %v to %v", failed, least, most)
		}
		last = most
	}
	if last != maxRetry {
		t.Errorf("in the end %v: want %v", last, maxRetry)
	}
}

func TestPublishedAddresses(t *testing.T) {
	var all []multiaddr.Multiaddr
	for _, s := range []string{"/ip4/127.0.0.1/tcp/1", "/ip4/192.168.1.2/tcp/1", "/ip4/8.8.8.8/tcp/1"} {
		all = append(all, multiaddr.StringCast(s))
	}
	if got := published(all); len(got) != 2 || got[0] != "/ip4/8.8.8.8/tcp/1" || got[1] != "/ip4/192.168.1.2/tcp/1" {
		t.Errorf("published %v: want the public address first and no loopback", got)
	}
	if got := published(all[:1]); len(got) != 1 {
		t.Errorf("published %v: want loopback where there is nothing else", got)
	}
	for range 20 {
		all = append(all, multiaddr.StringCast("/ip4/10.0.0.1/tcp/1"))
	}
	if got := published(all); len(got) != grid.MaxAddrs {
		t.Errorf("%d addresses: want at most %d", len(got), grid.MaxAddrs)
	}
}

func TestContactsAreBounded(t *testing.T) {
	a := openNode(t, nil)
	addr := []string{"/ip4/127.0.0.1/tcp/1"}
	kept := grid.NodeID{1}
	a.dialer.learn(kept, addr, kept)
	a.SetNeighbour(grid.Link{Peer: kept, Keep: true})
	for i := range maxContacts + 100 {
		a.dialer.learn(grid.NodeID{2, byte(i), byte(i >> 8)}, addr, kept)
	}
	a.dialer.mu.Lock()
	defer a.dialer.mu.Unlock()
	if len(a.dialer.contacts) > maxContacts || a.dialer.contacts[kept] == nil {
		t.Errorf("%d contacts, neighbour among them %v: want at most %d with it", len(a.dialer.contacts),
			a.dialer.contacts[kept] != nil, maxContacts)
	}
}

// Strangers that come and go do not replace saved familiar members: a node finds its network by these after a
// restart.
func TestStrangersDoNotReplaceSavedFamiliarNodes(t *testing.T) {
	a := openNode(t, nil)
	old, addr := time.Now().Add(-2*transport.FamiliarAfter), []string{"/ip4/192.0.2.1/tcp/1"}
	a.dialer.mu.Lock()
	for i := range maxSaved {
		a.dialer.contacts[grid.NodeID{1, byte(i), byte(i >> 8)}] = &contact{addrs: addr, lastSeen: old, firstUp: old,
			saved: true, next: time.Now().Add(time.Hour)}
	}
	a.dialer.mu.Unlock()
	for i := range byte(10) {
		n := grid.NodeID{2, i}
		a.dialer.learn(n, addr, n)
		a.dialer.up(n)
	}
	rig.Await(t, "strangers are up", func() bool {
		a.dialer.mu.Lock()
		defer a.dialer.mu.Unlock()
		return a.dialer.connected == 10
	})
	a.dialer.save(grid.NodeID{2})
	a.dialer.mu.Lock()
	defer a.dialer.mu.Unlock()
	for n, c := range a.dialer.contacts {
		if n[0] == 1 && !c.saved {
			t.Fatal("a node that is known for long is forgotten for a stranger")
		}
	}
}

// Host names in ads are not looked up.
func TestNamesAreNotLookedUp(t *testing.T) {
	got := numericAddrs([]string{"/dns4/example.com/tcp/1", "/ip4/192.0.2.1/tcp/1", "/ip6/2001:db8::1/tcp/1",
		"/dnsaddr/example.com", "rubbish",
		"/unix/tmp/x"})
	if len(got) != 2 {
		t.Errorf("%v: want the two addresses of IP", got)
	}
}
