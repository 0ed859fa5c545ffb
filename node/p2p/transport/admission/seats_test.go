package admission

import (
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
)

var start = time.Unix(1e9, 0)

// testSeats is a pool, and the nodes whose seats were given away.
type testSeats struct {
	Seats
	left []grid.NodeID
}

func (h *testSeats) take(node byte, net string, known bool, at time.Time) *Seat {
	n := grid.NodeID{node}
	return h.Take(Claim{Node: n, Net: net, Familiar: known, OnEvict: func() { h.left = append(h.left, n) }}, at)
}

// fullSeats returns a pool of 256 seats taken by nodes 1, 2, … of one network, 32 each.
func fullSeats(known bool) *testSeats {
	h := &testSeats{Seats: Seats{Max: 256, PerNode: 32}}
	for i := range 256 {
		h.take(byte(1+i/32), "a", known, start)
	}
	return h
}

func TestHolderOfFewGetsASeat(t *testing.T) {
	for _, net := range []string{"a", "b"} {
		h := fullSeats(false)
		if h.Taken() != 256 {
			t.Fatalf("%d places taken: want 256", h.Taken())
		}
		for i := range 16 {
			if h.take(100, net, false, start) == nil {
				t.Fatalf("stranger of network %s is kept out with %d places", net, i)
			}
		}
		for _, n := range h.left {
			if n == (grid.NodeID{100}) {
				t.Error("who holds less than the others had to leave")
			}
		}
		if h.Taken() != 256 {
			t.Errorf("%d places taken: want 256", h.Taken())
		}
	}
}

// Many identities of one network, with one seat each, do not keep out another network.
func TestManyIdentitiesOfOneNetwork(t *testing.T) {
	h := &testSeats{Seats: Seats{Max: 64, PerNode: 32}}
	for i := range byte(64) {
		h.take(i, "a", false, start)
	}
	if h.take(100, "a", false, start) != nil {
		t.Error("the 65th node of a network got in, in the stead of one that holds as much as it would")
	}
	for i := range 32 {
		if h.take(200, "b", false, start) == nil {
			t.Fatalf("another network is kept out with %d places of 64", i)
		}
	}
}

func TestStrangersDoNotEvictFamiliarNodes(t *testing.T) {
	h := fullSeats(true)
	if h.take(100, "b", false, start.Add(time.Hour)) != nil {
		t.Errorf("a stranger has the place of %v", h.left)
	}
	h = fullSeats(false)
	for i := range 300 {
		h.take(byte(100+i/32), "c", true, start)
	}
	known := 0
	for _, s := range h.taken {
		if s.claim.Familiar {
			known++
		}
	}
	if known != 192 {
		t.Errorf("%d of 256 places are of nodes that are known: want all that they asked for but the quarter that "+
			"strangers keep", known)
	}
}

func TestIdleStrangersAreEvicted(t *testing.T) {
	h := &testSeats{Seats: Seats{Max: 2, PerNode: 1}}
	busy := h.take(1, "a", false, start)
	h.take(2, "a", false, start)
	if h.take(3, "a", false, start.Add(MaxIdle-1)) != nil {
		t.Error("a place was given away early")
	}
	busy.Use(start.Add(MaxIdle))
	if h.take(3, "a", false, start.Add(MaxIdle)) == nil || len(h.left) != 1 || h.left[0] != (grid.NodeID{2}) {
		t.Errorf("%v left: want the node that used its place least lately", h.left)
	}
}

// A node that becomes familiar gives no seat to strangers from then on, used or not.
func TestStrangersBecomeFamiliar(t *testing.T) {
	h := &testSeats{Seats: Seats{Max: 1, PerNode: 1}}
	h.take(1, "a", false, start).SetFamiliar()
	if h.take(2, "b", false, start.Add(time.Hour)) != nil {
		t.Error("who is known gave its place to a stranger")
	}
}

func TestSeatsAreFreedOnce(t *testing.T) {
	h := &testSeats{Seats: Seats{Max: 4, PerNode: 2}}
	a, b := h.take(1, "a", false, start), h.take(1, "a", false, start)
	if h.take(1, "a", false, start) != nil {
		t.Error("a node has more than its share")
	}
	if !a.Free() || a.Free() {
		t.Error("want the first call to free the seat, and the second to find it free")
	}
	if h.Taken() != 1 || h.take(1, "a", false, start) == nil {
		t.Errorf("%d places taken after one was given back twice: want 1", h.Taken())
	}
	b.Free()
}

func TestNet(t *testing.T) {
	const relay = "/p2p/12D3KooWNzA5KV1widHi48szR9d2NaMeK5j4AyjrryT9boNRh7eh"
	for addr, want := range map[string]string{
		"/ip4/192.0.2.77/tcp/1":                               "192.0.2.0",
		"/ip6/2001:db8:0:1:2::3/tcp/1":                        "2001:db8::",
		"/ip4/192.0.2.77/tcp/1" + relay + "/p2p-circuit":      "relay " + relay[len("/p2p/"):],
		"/ip6/2001:db8:0:1::1/tcp/1" + relay + "/p2p-circuit": "relay " + relay[len("/p2p/"):],
	} {
		if got := Net(ma.StringCast(addr)); got != want {
			t.Errorf("network of %s is %q: want %q", addr, got, want)
		}
	}
}
