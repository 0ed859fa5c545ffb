package reachability

import (
	"context"
	"io"
	"log/slog"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/libp2p/go-libp2p/core/host"

	"skep/grid"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/transport"
)

// Config is what a network needs.
type Config struct {
	Self     grid.NodeID
	Secret   [32]byte
	Announce []string     // TCP multiaddresses, besides those of the interfaces, at which others can dial the node
	Data     ds.Datastore // keeps the known nodes
	MDNS     bool         // search for members on the local network

	MayRelay func(grid.NodeID) bool // nodes that may relay for others; nil: all

	Log   *slog.Logger
	Event func(fill func(*grid.Event)) // steps an event; it may wait
}

// Network is the nodes that are known and the ways between them and this node. It has the methods that transport
// wants of its Contacts. All methods are safe for concurrent use; none but Attach and Close blocks.
type Network struct {
	cfg    Config
	ctx    context.Context // until Close
	work   *lifecycle.Group
	own    *ownAddrs
	dialer *dialer
	relays *relays
	direct *directDialer
	mdns   io.Closer // nil: it does not run

	// Set by Attach.
	transport *transport.Transport
	host      host.Host
}

// New returns a network that knows nobody yet. Its work ends with ctx.
func New(ctx context.Context, cfg Config) (*Network, error) {
	own, err := parseAnnounced(cfg.Announce)
	if err != nil {
		return nil, err
	}
	n := &Network{cfg: cfg, own: own, work: lifecycle.New(ctx)}
	n.ctx = n.work.Context()
	n.dialer, n.relays = newDialer(n), newRelays(n)
	n.direct = &directDialer{n: n, trying: make(map[grid.NodeID]bool)}
	return n, nil
}

// Addrs returns what decides the addresses of the transport's host.
func (n *Network) Addrs() transport.Addrs { return n.own }

// Service returns the service by which peers find out whether they can be dialled.
func (n *Network) Service() transport.Service {
	return transport.Service{Protocol: reachProtocol, Request: reachRequest, Cooldown: reachCooldown,
		PerPeer: reachPerPeer, All: reachAll, Inbound: 2 * reachPerPeer, Serve: n.serveReach}
}

// Attach tells the network its transport, before that is started, and loads the known nodes: those on disk, and
// tokenAddrs, addresses that name their nodes.
func (n *Network) Attach(t *transport.Transport, tokenAddrs []string) error {
	n.transport, n.host = t, t.Host()
	return n.dialer.load(tokenAddrs)
}

// Start begins to dial, to publish addresses and to look for relays.
func (n *Network) Start() {
	n.work.Go(n.publishAddrs)
	n.work.Go(n.relays.run)
	n.work.Go(n.dialer.run)
	if n.cfg.MDNS {
		n.startMDNS()
	}
}

// Close ends all that and waits for it.
func (n *Network) Close() {
	n.work.Cancel()
	if n.mdns != nil {
		n.mdns.Close()
	}
	n.work.Wait()
}

// SetNeighbour makes a node a neighbour, to which a connection is kept and whose silence is noticed, or ends that.
func (n *Network) SetNeighbour(k grid.Link) {
	n.dialer.setNeighbour(k)
	n.transport.Watch(k.Peer, k.Keep)
}

// Familiar reports whether a node has been known for long: it is no stranger.
func (n *Network) Familiar(node grid.NodeID, at time.Time) bool { return n.dialer.familiar(node, at) }

// Dialable reports whether it is worth dialling a node that is not connected, and makes its addresses known to the
// host.
func (n *Network) Dialable(node grid.NodeID) bool { return n.dialer.reachable(node) }

// Reporters returns the nodes that reported a node's addresses; for a connected node, itself.
func (n *Network) Reporters(node grid.NodeID) []grid.NodeID { return n.dialer.reporters(node) }

// Learn records the addresses that a node announces, and which node passed them on.
func (n *Network) Learn(node grid.NodeID, addrs []string, reporter grid.NodeID) {
	n.dialer.learn(node, addrs, reporter)
}

// Reported records another node that reports the same addresses of a node that is not connected.
func (n *Network) Reported(node, reporter grid.NodeID) { n.dialer.reported(node, reporter) }

// SessionUp records that the session with a peer is up, and saves the peer.
func (n *Network) SessionUp(node grid.NodeID) { n.dialer.up(node) }

// SessionDown records that a session has ended, or was not to be had.
func (n *Network) SessionDown(node grid.NodeID, wasUp bool) { n.dialer.down(node, wasUp) }

// RelayedConn begins to look for a direct connection to a peer that is connected through a relay.
func (n *Network) RelayedConn(node grid.NodeID) { n.direct.begin(node) }
