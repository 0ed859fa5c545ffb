package mesh

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	libp2pnet "github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// wires is a device whose other side is the test's.
type wires struct {
	out, in chan []byte // what ranks here send, and what they receive
	closed  chan struct{}
}

func newWires() *wires {
	return &wires{out: make(chan []byte), in: make(chan []byte, 1024), closed: make(chan struct{})}
}

func (w *wires) Read(b []byte) (int, error) {
	select {
	case p := <-w.out:
		return copy(b, p), nil
	case <-w.closed:
		return 0, io.EOF
	}
}

func (w *wires) Write(b []byte) (int, error) {
	select {
	case w.in <- append([]byte(nil), b...):
		return len(b), nil
	case <-w.closed:
		return 0, io.EOF
	default:
		return 0, network.ErrDropped
	}
}

func (w *wires) Close() error {
	close(w.closed)
	return nil
}

// datagram is a packet from one rank to another with a number in it.
func datagram(from, to int, number byte) []byte {
	b := make([]byte, 28)
	b[0], b[9], b[27] = 0x45, 17, number
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	source, dest := network.Addr(from).As4(), network.Addr(to).As4()
	copy(b[12:], source[:])
	copy(b[16:], dest[:])
	return b
}

// pair joins an attempt of three ranks at two sites: rank 0 at the first, ranks 1 and 2 at the second.
func pair(t *testing.T, at []*site, n uint32) (ends [2]*wires, members [2]*Member) {
	t.Helper()
	l := Layout{ID: grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: n}},
		Nodes: []grid.NodeID{at[0].id, at[1].id, at[1].id}}
	for i := range ends {
		ends[i] = newWires()
		m, err := at[i].mesh.Join(l, ends[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { leave(m) })
		members[i] = m
	}
	return ends, members
}

// leave closes a member that a test may have closed.
func leave(m *Member) {
	if m.work.Context().Err() == nil {
		m.Close()
	}
}

// expect waits for the packet with a number, which is the next.
func (w *wires) expect(t *testing.T, number byte) {
	t.Helper()
	select {
	case p := <-w.in:
		if p[27] != number {
			t.Fatalf("packet %d comes, want %d", p[27], number)
		}
	case <-time.After(rig.Timeout):
		t.Fatalf("packet %d does not come", number)
	}
}

func TestPacketsReachTheirRank(t *testing.T) {
	ends, members := pair(t, sites(t, 2), 1)
	ends[0].out <- datagram(0, 1, 1)
	ends[1].expect(t, 1)
	ends[0].out <- datagram(0, 2, 2)
	ends[1].expect(t, 2)
	ends[1].out <- datagram(2, 0, 3)
	ends[0].expect(t, 3)
	for name, p := range map[string][]byte{"for a rank here": datagram(0, 0, 9), "of a rank elsewhere": datagram(1, 2, 9),
		"for none": datagram(0, 3, 9), "too long": make([]byte, network.MTU+1)} {
		before := members[0].Counts()
		ends[0].out <- p
		rig.Await(t, name+": counted as a stray", func() bool { return members[0].Counts().Strays == before.Strays+1 })
		if after := members[0].Counts(); after.Sent != before.Sent {
			t.Errorf("%s: is sent", name)
		}
	}
}

// rogue joins an attempt at the first site by hand, and returns the stream to the second.
func rogue(t *testing.T, at []*site, id grid.AttemptID) libp2pnet.Stream {
	t.Helper()
	st, err := at[0].Open(t.Context(), at[1].id, Protocol)
	if err != nil {
		t.Fatal(err)
	}
	st.Write(wire.AppendAttempt(nil, id))
	return st
}

func frame(p []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(p))), p...) }

// What a node sends that it may not is dropped and counted, and what it may send comes on.
func TestForgedPacketsAreDropped(t *testing.T) {
	at := sites(t, 2)
	l := Layout{ID: grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}},
		Nodes: []grid.NodeID{at[0].id, at[1].id, at[1].id}}
	end := newWires()
	m, err := at[1].mesh.Join(l, end)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	st := rogue(t, at, l.ID)
	status := make([]byte, 1)
	if _, err := io.ReadFull(st, status); err != nil || status[0] != 0 {
		t.Fatalf("status %v, %v", status, err)
	}
	outside := datagram(0, 1, 9)
	copy(outside[16:], []byte{192, 0, 2, 1})
	loopback := datagram(0, 1, 9)
	copy(loopback[12:], []byte{127, 0, 0, 1})
	for _, p := range [][]byte{datagram(1, 2, 9), datagram(2, 1, 9), datagram(0, 0, 9), outside, loopback} {
		st.Write(frame(p))
	}
	for _, p := range [][]byte{nil, {0x45}, make([]byte, 40), datagram(0, 1, 9)[:27], make([]byte, 65535)} {
		st.Write(frame(p))
	}
	st.Write(frame(datagram(0, 1, 7)))
	end.expect(t, 7)
	rig.Await(t, "it is counted, too", func() bool { return m.Counts().Received > 0 })
	if c := m.Counts(); c.Forged != 5 || c.Invalid != 5 || c.Received != 1 {
		t.Errorf("%+v: want 5 forged, 5 invalid, 1 received", c)
	}
}

// Only nodes with ranks of the attempt, and of these the one that is to open the stream, may.
func TestWhoMayOpen(t *testing.T) {
	at := sites(t, 3)
	ends, members := pair(t, at[1:], 1)
	id := members[1].layout.ID
	if _, err := rogue(t, []*site{at[0], at[2]}, id).Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a node without ranks: %v: want a reset", err)
	}
	if _, err := rogue(t, []*site{at[2], at[1]}, id).Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the node of greater ID: %v: want a reset", err)
	}
	older := id
	older.N = 0
	status := make([]byte, 1)
	if _, err := rogue(t, at[1:], older).Read(status); err != nil || status[0] == 0 {
		t.Errorf("an older attempt: status %v, %v: want that there is none", status, err)
	}
	ends[0].out <- datagram(0, 1, 1)
	ends[1].expect(t, 1)
	if c := members[1].Counts(); c.Streams != 1 {
		t.Errorf("%+v: want one stream", c)
	}
}

// Two attempts with the same addresses on the same nodes do not reach each other, and one that has ended carries
// nothing.
func TestAttemptsAreApart(t *testing.T) {
	at := sites(t, 2)
	old, oldMembers := pair(t, at, 1)
	now, members := pair(t, at, 2)
	old[0].out <- datagram(0, 1, 1)
	old[1].expect(t, 1)
	now[0].out <- datagram(0, 1, 2)
	now[1].expect(t, 2)
	oldMembers[1].Close()
	old[0].out <- datagram(0, 1, 3)
	now[0].out <- datagram(0, 1, 4)
	now[1].expect(t, 4)
	if _, err := at[1].mesh.Join(members[1].layout, newWires()); err == nil {
		t.Error("an attempt is joined twice")
	}
}

// A stream that is cut is opened again; a node that joins later is found.
func TestStreamIsOpenedAgain(t *testing.T) {
	at := sites(t, 2)
	ends, members := pair(t, at, 1)
	ends[0].out <- datagram(0, 1, 1)
	ends[1].expect(t, 1)
	for cut := range 3 {
		for _, c := range at[cut%2].host.Network().Conns() {
			c.Close()
		}
		rig.Await(t, "a new stream", func() bool { return members[0].Counts().Streams > uint64(cut)+1 })
		ends[1].out <- datagram(1, 0, byte(cut+10))
		ends[0].expect(t, byte(cut+10))
	}
	members[1].Close()
	again := newWires()
	m, err := at[1].mesh.Join(members[1].layout, again)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	again.out <- datagram(2, 0, 99)
	ends[0].expect(t, 99)
}

// What a node cannot send yet is bounded, and counted beyond.
func TestQueueIsBounded(t *testing.T) {
	at := sites(t, 2)
	l := Layout{ID: grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}, Nodes: []grid.NodeID{at[0].id, at[1].id}}
	end := newWires()
	m, err := at[0].mesh.Join(l, end) // the other never does
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	large := append(datagram(0, 1, 0), make([]byte, network.MTU-28)...)
	binary.BigEndian.PutUint16(large[2:], uint16(len(large)))
	for range 100 {
		end.out <- large
	}
	rig.Await(t, "a hundred are counted", func() bool { c := m.Counts(); return c.Sent+c.Full == 100 })
	if c := m.Counts(); c.Sent != uint64(mostForNode/len(frames{}.b)) || c.Strays != 0 {
		t.Errorf("%+v: want %d in the queue", c, mostForNode/len(frames{}.b))
	}
}

// Close ends all that an attempt has started.
func TestNothingIsLeft(t *testing.T) {
	at := sites(t, 2)
	run := func(n uint32) {
		ends, members := pair(t, at, n)
		ends[0].out <- datagram(0, 1, 1)
		ends[1].expect(t, 1)
		members[0].Close()
		members[1].Close()
	}
	run(1) // connects the nodes
	before := goleak.IgnoreCurrent()
	run(2)
	goleak.VerifyNone(t, before)
	for _, s := range at {
		if n := rig.Served(s.host, Protocol); n != 0 {
			t.Errorf("%d streams are left", n)
		}
		if len(s.mesh.members) != 0 {
			t.Error("an attempt is left")
		}
	}
}

func TestLayoutIsChecked(t *testing.T) {
	self, other := grid.NodeID{1}, grid.NodeID{2}
	m := New(context.Background(), Config{Self: self, Log: slog.New(slog.DiscardHandler)})
	defer m.Close()
	for _, l := range []Layout{{}, {Nodes: []grid.NodeID{other}}, {Nodes: []grid.NodeID{self, {}}},
		{Nodes: make([]grid.NodeID, grid.MaxRanks+1)}} {
		if _, err := m.Join(l, newWires()); err == nil {
			t.Errorf("%d ranks are joined", len(l.Nodes))
		}
	}
	m.Close()
	if _, err := m.Join(Layout{Nodes: []grid.NodeID{self}}, newWires()); err == nil {
		t.Error("an attempt is joined after Close")
	}
}

// Two nodes that reach each other only through a third carry packets too.
func TestRelayedConnections(t *testing.T) {
	unbounded := relay.DefaultResources()
	unbounded.Limit = nil // as members relay for each other
	between := newSite(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ForceReachabilityPublic(),
		libp2p.EnableRelayService(relay.WithResources(unbounded)))
	at := make([]*site, 2)
	for i := range at {
		at[i] = newSite(t, libp2p.NoListenAddrs, libp2p.EnableRelay())
	}
	slices.SortFunc(at, func(a, b *site) int { return a.id.Compare(b.id) })
	info := peer.AddrInfo{ID: between.host.ID(), Addrs: between.host.Addrs()}
	for _, s := range at {
		if err := s.host.Connect(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	rig.Await(t, "a place at the relay", func() bool {
		_, err := client.Reserve(t.Context(), at[1].host, info)
		return err == nil
	})
	through := multiaddr.StringCast(info.Addrs[0].String() + "/p2p/" + info.ID.String() + "/p2p-circuit")
	at[0].host.Peerstore().AddAddr(at[1].host.ID(), through, time.Hour)
	ends, _ := pair(t, at, 1)
	ends[0].out <- datagram(0, 2, 1)
	ends[1].expect(t, 1)
	ends[1].out <- datagram(1, 0, 2)
	ends[0].expect(t, 2)
	for _, c := range at[0].host.Network().ConnsToPeer(at[1].host.ID()) {
		if _, err := c.RemoteMultiaddr().ValueForProtocol(multiaddr.P_CIRCUIT); err != nil {
			t.Errorf("the connection to %v is direct", c.RemoteMultiaddr())
		}
	}
}
