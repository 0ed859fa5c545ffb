package transport

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/inbox"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, // process-wide helpers of libraries, started once and never stopped
		goleak.IgnoreTopFunction("github.com/libp2p/go-flow-metrics.(*sweeper).runActive"))
}

// contacts knows nobody's address; a test says who is familiar.
type contacts struct {
	mu       sync.Mutex
	familiar map[grid.NodeID]bool
	learned  []grid.NodeID
	reported []grid.NodeID
}

func (c *contacts) setFamiliar(n grid.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.familiar = map[grid.NodeID]bool{n: true}
}

func (c *contacts) Familiar(n grid.NodeID, _ time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.familiar[n]
}

func (c *contacts) Learn(n grid.NodeID, _ []string, _ grid.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned = append(c.learned, n)
}

func (c *contacts) Reported(n, _ grid.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reported = append(c.reported, n)
}

func (*contacts) Dialable(grid.NodeID) bool           { return false }
func (*contacts) Reporters(grid.NodeID) []grid.NodeID { return nil }
func (*contacts) SessionUp(grid.NodeID)               {}
func (*contacts) SessionDown(grid.NodeID, bool)       {}
func (*contacts) RelayedConn(grid.NodeID)             {}

// proposed are the addresses that libp2p proposes.
type proposed struct{}

func (proposed) Merge(addrs []ma.Multiaddr) []ma.Multiaddr { return addrs }
func (proposed) Attach(host.Host)                          {}

// testNode is a transport whose events are counted.
type testNode struct {
	*Transport
	self  grid.NodeID
	known *contacts
	end   func() // closes it
	t     testing.TB

	mu     sync.Mutex
	events []grid.Event // without messages, which are dead after their step
	drops  map[string]int
}

var testSecret = [32]byte{1, 2, 3}

// openNode opens a transport on loopback; change may alter its configuration.
func openNode(t testing.TB, change func(*Config)) *testNode {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &testNode{known: new(contacts), t: t, drops: make(map[string]int)}
	q := inbox.Open()
	cfg := Config{Self: grid.NodeID(key[32:]), Boot: 1, Key: key, Secret: testSecret,
		Listen:   []string{"/ip4/127.0.0.1/tcp/0"},
		Contacts: n.known, Addrs: proposed{}, Log: slog.New(slog.DiscardHandler), Inbox: q, Members: new(Members),
		Drop: n.drop}
	if change != nil {
		change(&cfg)
	}
	if n.Transport, err = Open(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	n.self = cfg.Self
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer q.Close()
		n.step(q, stop)
	}()
	n.Start()
	n.end = sync.OnceFunc(func() {
		n.Close()
		close(stop)
		<-ended
	})
	t.Cleanup(n.end)
	return n
}

func (n *testNode) step(q *inbox.Inbox, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case in := <-q.Inputs():
			if in.Read != nil {
				in.Read(1)
			} else {
				n.mu.Lock()
				ev := in.Event
				ev.Msg = nil
				n.events = append(n.events, ev)
				n.mu.Unlock()
			}
			in.Free()
		}
	}
}

func (n *testNode) drop(reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drops[reason]++
}

func (n *testNode) dropped() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.drops)
}

func (n *testNode) count(k grid.EventKind) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.events {
		if n.events[i].Kind == k {
			count++
		}
	}
	return count
}

func (n *testNode) token() string {
	var addrs []string
	for _, a := range n.Host().Addrs() {
		addrs = append(addrs, a.String()+"/p2p/"+identity.Peer(n.self).String())
	}
	return wire.Token{Secret: testSecret, Addrs: addrs}.String()
}

// connect connects the node to another one, and waits until both are up for each other.
func (n *testNode) connect(to *testNode) {
	n.t.Helper()
	info := peer.AddrInfo{ID: identity.Peer(to.self), Addrs: to.Host().Addrs()}
	if err := n.Host().Connect(n.t.Context(), info); err != nil {
		n.t.Fatal(err)
	}
	rig.Await(n.t, "both are up", func() bool { return n.Up(to.self) && to.Up(n.self) })
}

// The loop hears that a peer is up before its first message, and that it is down after its last one.
func TestMessagesArriveBetweenUpAndDown(t *testing.T) {
	a, b := openNode(t, nil), openNode(t, nil)
	a.connect(b)
	ask := &grid.Send{To: b.self, Msg: grid.Message{Kind: grid.KindAsk,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: grid.JobID{Origin: a.self}},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}}}}
	a.Send(ask)
	rig.Await(t, "the message is heard", func() bool { return b.count(grid.EvMessage) == 1 })
	a.Flush(t.Context())
	a.end()
	rig.Await(t, "a is down", func() bool { return b.count(grid.EvPeerDown) == 1 && !b.Up(a.self) })
	b.Send(&grid.Send{To: a.self, Msg: ask.Msg})
	if n := b.dropped()["not connected"]; n != 1 {
		t.Errorf("%d messages to nobody are counted: want one", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var kinds []grid.EventKind
	for i := range b.events {
		if b.events[i].Peer == a.self {
			kinds = append(kinds, b.events[i].Kind)
		}
	}
	if want := []grid.EventKind{grid.EvPeerUp, grid.EvMessage, grid.EvPeerDown}; !slices.Equal(kinds, want) {
		t.Errorf("b hears %v: want %v", kinds, want)
	}
}

// A member of another network gets no connection.
func TestOtherSecretsDoNotConnect(t *testing.T) {
	a := openNode(t, nil)
	b := openNode(t, func(c *Config) { c.Secret = [32]byte{9} })
	info := peer.AddrInfo{ID: identity.Peer(a.self), Addrs: a.Host().Addrs()}
	if err := b.Host().Connect(t.Context(), info); err == nil || a.Connected(b.self) {
		t.Errorf("connected, %v: want an error", err)
	}
}

// The same ad, from another neighbour, is decoded once; its addresses are learned once, and who passed it on is told.
func TestAdsAreOpenedOnce(t *testing.T) {
	a := openNode(t, nil)
	ad, err := hostile.Ghost("ghost", "/ip4/192.0.2.1/tcp/1")
	if err != nil {
		t.Fatal(err)
	}
	first, err1 := a.ads.open([]byte(ad.Sealed), grid.NodeID{1})
	again, err2 := a.ads.open([]byte(ad.Sealed), grid.NodeID{2})
	if err1 != nil || err2 != nil || first != again {
		t.Errorf("%v, %v, %v, %v: want one ad", first, err1, again, err2)
	}
	if len(a.known.learned) != 1 || len(a.known.reported) != 1 {
		t.Errorf("learned %d times, and reported %d times again: want once each", len(a.known.learned), len(a.known.reported))
	}
	forged := slices.Clone([]byte(ad.Sealed))
	forged[len(forged)/2] ^= 1
	if _, err := a.ads.open(forged, grid.NodeID{1}); err == nil {
		t.Error("a forged ad is opened")
	}
}
