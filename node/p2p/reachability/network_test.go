package reachability

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"sync"
	"testing"

	ds "github.com/ipfs/go-datastore"
	dsync "github.com/ipfs/go-datastore/sync"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/inbox"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, // process-wide helpers of libraries, started once and never stopped
		goleak.IgnoreTopFunction("github.com/libp2p/go-flow-metrics.(*sweeper).runActive"))
}

// testNode is a network with its transport.
type testNode struct {
	*Network
	t testing.TB

	mu    sync.Mutex
	addrs []string // the last that were told
	up    map[grid.NodeID]bool
}

var testSecret = [32]byte{1, 2, 3}

// openNode opens a node on loopback; change may alter the configuration of its transport.
func openNode(t testing.TB, change func(*transport.Config), join ...string) *testNode {
	t.Helper()
	n, err := tryOpenNode(t, change, join...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func tryOpenNode(t testing.TB, change func(*transport.Config), join ...string) (*testNode, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	q := inbox.Open()
	self, log := grid.NodeID(key[32:]), slog.New(slog.DiscardHandler)
	n := &testNode{t: t, up: make(map[grid.NodeID]bool)}
	if n.Network, err = New(context.Background(),
		Config{Self: self, Secret: testSecret, Data: dsync.MutexWrap(ds.NewMapDatastore()), Log: log,
			Event: q.Event}); err != nil {
		return nil, err
	}
	cfg := transport.Config{Self: self, Boot: 1, Key: key, Secret: testSecret, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
		Services: []transport.Service{n.Service()},
		Contacts: n.Network, Addrs: n.Addrs(), Log: log, Inbox: q, Members: new(transport.Members), Drop: func(string) {}}
	if change != nil {
		change(&cfg)
	}
	tr, err := transport.Open(context.Background(), cfg)
	if err != nil {
		n.Close()
		return nil, err
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer q.Close()
		n.step(q, stop)
	}()
	t.Cleanup(func() {
		n.Close()
		tr.Close()
		close(stop)
		<-ended
	})
	var addrs []string
	for _, text := range join {
		token, err := wire.ParseToken(text)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, token.Addrs...)
	}
	if err := n.Attach(tr, addrs); err != nil {
		return nil, err
	}
	tr.Start()
	n.Start()
	return n, nil
}

func (n *testNode) step(q *inbox.Inbox, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case in := <-q.Inputs():
			n.mu.Lock()
			switch in.Event.Kind {
			case grid.EvAddrs:
				n.addrs = in.Event.Addrs
			case grid.EvPeerUp:
				n.up[in.Event.Peer] = true
			case grid.EvPeerDown:
				delete(n.up, in.Event.Peer)
			}
			n.mu.Unlock()
			in.Free()
		}
	}
}

func (n *testNode) isUp(peer grid.NodeID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up[peer]
}

func (n *testNode) token() string {
	var addrs []string
	for _, a := range n.Advertised(grid.MaxAddrs) {
		addrs = append(addrs, a+"/p2p/"+identity.Peer(n.cfg.Self).String())
	}
	return wire.Token{Secret: testSecret, Addrs: addrs}.String()
}

func (n *testNode) listenAddr() string {
	for _, a := range n.host.Network().ListenAddresses() {
		if _, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			return a.String()
		}
	}
	n.t.Fatal("does not listen")
	return ""
}

func waitUp(t testing.TB, all ...*testNode) {
	t.Helper()
	for _, a := range all {
		for _, b := range all {
			if a != b {
				rig.Await(t, "a node hears that another is up", func() bool { return a.isUp(b.cfg.Self) })
			}
		}
	}
}

// openPair opens two nodes; the second has joined by the first.
func openPair(t testing.TB) (a, b *testNode) {
	t.Helper()
	a = openNode(t, nil)
	b = openNode(t, nil, a.token())
	waitUp(t, a, b)
	return a, b
}

// Who was connected is on disk, and is dialled after a restart; its own addresses are told to the node.
func TestPeersAreSavedAndAddressesTold(t *testing.T) {
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return CountSaved(t.Context(), b.cfg.Data) == 1 })
	rig.Await(t, "a saves b", func() bool { return CountSaved(t.Context(), a.cfg.Data) == 1 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.addrs) != 1 || a.addrs[0] != a.listenAddr() {
		t.Errorf("told %v: want %s", a.addrs, a.listenAddr())
	}
}

// A neighbour of which only an address is known is dialled.
func TestNeighboursAreDialled(t *testing.T) {
	a, b := openNode(t, nil), openNode(t, nil)
	a.Learn(b.cfg.Self, b.Advertised(grid.MaxAddrs), grid.NodeID{7})
	if !a.Dialable(b.cfg.Self) || b.Dialable(a.cfg.Self) {
		t.Error("a knows an address of b, and b none of a")
	}
	if got := a.Reporters(b.cfg.Self); len(got) != 1 || got[0] != (grid.NodeID{7}) {
		t.Errorf("reporters %v: want who told of it", got)
	}
	a.SetNeighbour(grid.Link{Peer: b.cfg.Self, Keep: true})
	waitUp(t, a, b)
	if got := a.Reporters(b.cfg.Self); len(got) != 1 || got[0] != b.cfg.Self {
		t.Errorf("reporters %v: want the connected node itself", got)
	}
}
