package dials

import (
	"errors"
	"fmt"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
)

var start = time.Unix(1e9, 0)

func addr(format string, a ...any) ma.Multiaddr { return ma.StringCast(fmt.Sprintf(format, a...)) }

// countAllowed counts how many of n ports, of hosts that format names, may be dialled within a minute, each
// reported by one node.
func countAllowed(b *Budget, format string, n int, reporter func(i int) grid.NodeID) (allowed int) {
	for second := range 60 {
		for i := range n {
			if b.Allow(addr(format, i), []grid.NodeID{reporter(i)}, start.Add(time.Duration(second)*time.Second)) == nil {
				allowed++
			}
		}
	}
	return allowed
}

func one(int) grid.NodeID    { return grid.NodeID{1} }
func many(i int) grid.NodeID { return grid.NodeID{1, byte(i), byte(i >> 8)} }

// At once, and then for a minute: twice the rate.
func TestDialsAreBounded(t *testing.T) {
	self := grid.NodeID{9}
	for _, tt := range []struct {
		name, format string
		reporter     func(int) grid.NodeID
		home         string
		want         int
	}{
		{"ports of a third party, by many tellers", "/ip4/192.0.2.1/tcp/%d", many, "", PerHost},
		{"ports of a network of IPv6", "/ip6/2001:db8::%x/tcp/1", many, "", PerHost},
		{"ports of a host where a member lives", "/ip4/192.0.2.1/tcp/%d", many, "/ip4/192.0.2.1/tcp/50000", PerMemberHost},
		{"hosts, by one teller", "/ip4/192.0.2.%d/tcp/1", one, "", PerReporter},
		{"hosts, by many tellers", "/ip4/192.0.2.%d/tcp/1", many, "", All},
		{"hosts that the node remembers", "/ip4/192.0.2.%d/tcp/1", func(int) grid.NodeID { return self }, "", All},
		{"hosts of which nobody is known to have told", "/ip4/192.0.2.%d/tcp/1",
			func(int) grid.NodeID { return grid.NodeID{} }, "", PerReporter},
	} {
		b := New(self, false)
		if tt.home != "" {
			b.AddMemberHost(ma.StringCast(tt.home))
		}
		if got := countAllowed(b, tt.format, 250, tt.reporter); got > 2*tt.want || got < 2*tt.want-4 {
			t.Errorf("%s: %d tries in the first minute: want %d at once and as many more", tt.name, got, tt.want)
		}
	}
}

// All nodes of a network on one machine share its host address.
func TestNetworkOnOneMachine(t *testing.T) {
	if got := countAllowed(New(grid.NodeID{9}, true), "/ip4/127.0.0.1/tcp/%d", 250, many); got < 2*All-4 || got > 2*All {
		t.Errorf("%d tries in the first minute: want %d at once and as many more", got, All)
	}
}

// A reporter that spends its budget does not spend that of others.
func TestReportersHaveSeparateBudgets(t *testing.T) {
	b := New(grid.NodeID{9}, false)
	countAllowed(b, "/ip4/192.0.2.%d/tcp/1", 250, one)
	end := start.Add(time.Minute)
	if err := b.Allow(addr("/ip4/198.51.100.1/tcp/1"), []grid.NodeID{{1}, {2}}, end); err != nil {
		t.Errorf("an address of which an honest member tells, too: %v", err)
	}
}

func TestProvedAddressesAreFree(t *testing.T) {
	b := New(grid.NodeID{9}, false)
	good := addr("/ip4/127.0.0.1/tcp/1")
	if err := b.Allow(good, nil, start); !errors.Is(err, ErrLocal) {
		t.Errorf("an address of the loopback that somebody told of: %v: want %v", err, ErrLocal)
	}
	b.AddProved(good)
	for range 1000 {
		if err := b.Allow(good, nil, start); err != nil {
			t.Fatalf("an address that an operator named: %v", err)
		}
	}
	for _, a := range []string{"/ip4/127.0.0.1/tcp/2", "/ip4/169.254.169.254/tcp/80", "/ip6/fe80::1/tcp/1",
		"/ip6/::1/tcp/1", "/ip4/0.0.0.0/tcp/1", "/ip4/224.0.0.1/tcp/1"} {
		if err := b.Allow(ma.StringCast(a), nil, start); !errors.Is(err, ErrLocal) {
			t.Errorf("%s: %v: want %v", a, err, ErrLocal)
		}
	}
	if err := New(grid.NodeID{9}, true).Allow(good, nil, start); err != nil {
		t.Errorf("on a node that uses nothing but the loopback: %v", err)
	}
}

func TestCachesAreBounded(t *testing.T) {
	b := New(grid.NodeID{9}, false)
	for i := range 2 * maxTracked {
		a := addr("/ip4/10.%d.%d.1/tcp/1", i/256, i%256)
		b.AddProved(a)
		b.AddMemberHost(a)
		b.Allow(addr("/ip4/11.%d.%d.1/tcp/1", i/256, i%256), []grid.NodeID{many(i)}, start.Add(time.Duration(i)*time.Minute))
	}
	if n := max(b.proved.Len(), b.memberHosts.Len(), b.hosts.Len(), b.reporters.Len()); n > maxTracked {
		t.Errorf("%d remembered: want at most %d", n, maxTracked)
	}
}
