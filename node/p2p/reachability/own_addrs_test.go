package reachability

import (
	"fmt"
	"net"
	"slices"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/identity"
)

func addrsOf(texts ...string) (addrs []ma.Multiaddr) {
	for _, s := range texts {
		addrs = append(addrs, ma.StringCast(s))
	}
	return addrs
}

const someRelay = "/p2p/12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"

// A machine may have more public IPv6 addresses than are published in all: some of each other kind are published
// too, for peers that cannot use IPv6.
func TestAddressesOfEachKindArePublished(t *testing.T) {
	var all []ma.Multiaddr
	for i := range 20 {
		all = append(all, ma.StringCast(fmt.Sprintf("/ip6/2600::%x/tcp/1", 1+i)))
	}
	through, private := "/ip4/8.8.8.8/tcp/1"+someRelay+"/p2p-circuit", "/ip4/192.168.1.2/tcp/1"
	all = append(all, addrsOf(through, private)...)
	for _, most := range []int{grid.MaxAddrs, 3} {
		got := publishedUpTo(most, all, nil)
		if len(got) != most || got[0] != "/ip6/2600::1/tcp/1" || got[most-2] != through || got[most-1] != private {
			t.Errorf("%v: want %d, some of each kind, the public ones first", got, most)
		}
	}
}

// The address at which a relay was dialled is published in any case.
func TestAddressesThroughARelay(t *testing.T) {
	relay := identity.Peer(grid.NodeID{1})
	circuit := "/p2p/" + relay.String() + "/p2p-circuit"
	for _, c := range []struct {
		dialled string
		said    []string
		want    []string
	}{
		{"/ip4/8.8.8.8/tcp/1", []string{"/ip6/2600::1/tcp/1", "/ip6/2600::2/tcp/1", "/ip4/8.8.8.8/tcp/1"},
			[]string{"/ip4/8.8.8.8/tcp/1", "/ip6/2600::1/tcp/1"}},
		{"/ip4/8.8.8.8/tcp/1", []string{"/ip4/8.8.8.8/tcp/1", "/ip4/8.8.4.4/tcp/1"}, []string{"/ip4/8.8.8.8/tcp/1"}},
		{"/ip4/10.0.0.1/tcp/1", []string{"/ip6/2600::1/tcp/1", "/ip4/10.0.0.1/tcp/1"}, []string{"/ip4/10.0.0.1/tcp/1"}},
	} {
		var want []string
		for _, w := range c.want {
			want = append(want, w+circuit)
		}
		if got := texts(circuitAddrs(relay, ma.StringCast(c.dialled), addrsOf(c.said...))); !slices.Equal(got, want) {
			t.Errorf("a relay dialled at %s that says %v: %v, want %v", c.dialled, c.said, got, want)
		}
	}
}

// A few lying peers do not hide the address that the others have dialled.
func TestMostConfirmedAddress(t *testing.T) {
	got := texts(mostConfirmed(addrsOf("/ip4/1.1.1.1/tcp/1", "/ip4/1.1.1.2/tcp/1", "/ip4/8.8.8.8/tcp/1",
		"/ip4/1.1.1.3/tcp/1", "/ip4/8.8.8.8/tcp/1")))
	if len(got) != maxConfirmed || got[0] != "/ip4/8.8.8.8/tcp/1" {
		t.Errorf("%v: want %d, /ip4/8.8.8.8/tcp/1 first", got, maxConfirmed)
	}
}

func TestAnnouncedAddressNamesNoNode(t *testing.T) {
	if p, err := parseAnnounced([]string{"/ip4/8.8.8.8/tcp/1" + someRelay}); err == nil {
		t.Errorf("taken as %v", p.announced)
	}
}

// The operator's address and the private network's come before those of other interfaces, so that they are in the
// token.
func TestOwnAddressOrder(t *testing.T) {
	p, err := parseAnnounced([]string{"/ip4/203.0.113.7/tcp/1", "/ip4/10.0.0.9/tcp/1"})
	if err != nil {
		t.Fatal(err)
	}
	house := "/ip4/192.168.1.2/tcp/1"
	all := addrsOf("/ip4/8.8.8.8/tcp/1", "/ip4/10.0.0.9/tcp/1", "/ip4/172.17.0.1/tcp/1", "/ip4/172.18.0.1/tcp/1",
		"/ip4/172.19.0.1/tcp/1", house, "/ip4/203.0.113.7/tcp/1")
	all = p.order(all, []net.IP{net.IPv4(192, 168, 1, 2)})
	if got := publishedUpTo(3, all, p.announced); !slices.Equal(got,
		[]string{"/ip4/203.0.113.7/tcp/1", "/ip4/10.0.0.9/tcp/1", house}) {
		t.Errorf("the token has %v", got)
	}
}
