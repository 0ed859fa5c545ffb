package transport

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/transport/admission"
	"skep/node/p2p/wire"
)

// Transport exchanges bytes with peers. Send and Announce are called by one goroutine, the loop's, and do not block;
// the other methods are safe for concurrent use.
type Transport struct {
	cfg       Config
	contacts  Contacts
	ctx       context.Context  // until Close
	work      *lifecycle.Group // sessions, streams that are served, announcements
	host      host.Host
	budget    *dialBudget
	offences  offenders
	gaps      *versionGaps
	counts    Counts
	ads       *adCache
	specs     *specCache
	peers     *peers
	announcer *announcer
	api       *apiListener
	served    map[protocol.ID]*admission.Seats

	codec wire.Codec // used by the loop's goroutine only
	buf   []byte     // used by the loop's goroutine only
}

// Counts are the numbers and bytes of messages since the start, by kind.
type Counts struct {
	Sent, Received           [grid.Kinds]atomic.Uint64
	SentBytes, ReceivedBytes [grid.Kinds]atomic.Uint64
}

// Open makes the host, which listens; nothing is dialled or served before Start. Its work ends with ctx. Close must
// follow if there is no error.
func Open(ctx context.Context, cfg Config) (*Transport, error) {
	if cfg.Instances == nil {
		cfg.Instances = noInstances{}
	}
	if cfg.Generations == nil {
		cfg.Generations = noGenerations{}
	}
	if cfg.Credentials == nil {
		cfg.Credentials = allMayDoAll{}
	}
	cfg.Control = cmp.Or(cfg.Control, controlProtocol)
	t := &Transport{cfg: cfg, contacts: cfg.Contacts, work: lifecycle.New(ctx), specs: newSpecCache(),
		gaps: newVersionGaps(), served: make(map[protocol.ID]*admission.Seats)}
	t.ctx = t.work.Context()
	t.ads, t.budget = newAdCache(t), newDialBudget(t)
	t.served[apiProtocol] = newSeats(ServesPerPeer, ServesAll)
	for _, s := range cfg.Services {
		t.served[s.Protocol] = newSeats(s.PerPeer, s.All)
	}
	var err error
	if t.host, err = newHost(&cfg, newConnGater(cfg.Allow, &t.offences), t.budget); err != nil {
		t.work.Cancel()
		return nil, err
	}
	t.peers = newPeers(t)
	t.host.SetStreamHandler(cfg.Control, t.peers.accept)
	if t.announcer, err = newAnnouncer(t); err != nil {
		t.Close()
		return nil, fmt.Errorf("announcements: %w", err)
	}
	t.api = newAPIListener(t)
	return t, nil
}

// Start serves streams and begins sessions.
func (t *Transport) Start() {
	for _, s := range t.cfg.Services {
		t.host.SetStreamHandler(s.Protocol, func(st network.Stream) { t.serve(&s, st) })
	}
	t.host.SetStreamHandler(apiProtocol, t.api.serve)
	t.peers.start()
	t.announcer.start()
}

// Flush waits, for about a second at most, until what is queued has gone out.
func (t *Transport) Flush(ctx context.Context) {
	t.peers.flush(ctx)
	t.announcer.flush(ctx)
}

// Close closes the host, which ends whatever blocks on a stream, and waits for all goroutines.
func (t *Transport) Close() {
	t.work.Cancel()
	t.host.Close()
	t.work.Wait()
}

// Host returns the libp2p host.
func (t *Transport) Host() host.Host { return t.host }

// Counts returns the counters, which go on.
func (t *Transport) Counts() *Counts { return &t.counts }

// Peers returns the connected nodes.
func (t *Transport) Peers() []grid.NodeID { return t.peers.connectedNodes() }

// Connected reports whether there is a connection to a node.
func (t *Transport) Connected(n grid.NodeID) bool { return t.peers.connected(n) }

// Up reports whether the node has been told that a peer is up, and not yet that it is down.
func (t *Transport) Up(n grid.NodeID) bool {
	s := t.peers.session(n)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isUp
}

// AllHave reports whether each peer that is up has a feature.
func (t *Transport) AllHave(f grid.Feature) bool {
	for _, n := range t.Peers() {
		s := t.peers.session(n)
		if s == nil {
			continue
		}
		s.mu.Lock()
		lacks := s.isUp && !s.features.Has(f)
		s.mu.Unlock()
		if lacks {
			return false
		}
	}
	return true
}

// Listeners returns the peers that are known to receive announcements.
func (t *Transport) Listeners() (nodes []grid.NodeID) {
	for _, p := range t.announcer.topic.ListPeers() {
		if n, ok := identity.Node(p); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Send encodes a message and queues it for its peer. It is dropped if the peer is not connected and cannot be
// dialled.
func (t *Transport) Send(s *grid.Send) {
	body, err := t.codec.Append(t.buf[:0], &s.Msg, t.ads.seal)
	if err != nil {
		t.cfg.Drop("unsendable")
		t.cfg.Log.Error("message not sent", "kind", s.Msg.Kind, "error", err)
		return
	}
	t.buf = body
	t.peers.send(s.To, s.Msg.Kind, body)
	if !s.Msg.Kind.Early() {
		t.cfg.Generations.Sent(s.To)
	}
}

// Announce queues a message for all nodes.
func (t *Transport) Announce(m *grid.Message) {
	body, err := t.codec.Append(nil, m, t.ads.seal)
	if err != nil || len(body) > maxAnnounce {
		t.cfg.Drop("unsendable")
		t.cfg.Log.Error("announcement not sent", "kind", m.Kind, "bytes", len(body), "error", err)
		return
	}
	t.announcer.publish(m.Kind, body)
}

// OpenStream opens a stream to a node, which is dialled if it is not connected.
func (t *Transport) OpenStream(ctx context.Context, n grid.NodeID, id protocol.ID) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(network.WithAllowLimitedConn(ctx, "skep"), askDeadline)
	defer cancel()
	st, err := t.host.NewStream(ctx, identity.Peer(n), id)
	if err != nil {
		return nil, dialCause(err)
	}
	return st, nil
}

// CarriesTransfer reports whether a stream carries data that would have to be sent again.
func (t *Transport) CarriesTransfer(st network.Stream) bool {
	id := st.Protocol()
	transfers := func(s Service) bool { return s.Transfer && s.Protocol == id }
	return id == apiProtocol || slices.ContainsFunc(t.cfg.Services, transfers)
}

// AddProved marks an address as one that an operator named: dials to it are not charged to the dial budget.
func (t *Transport) AddProved(a ma.Multiaddr) { t.budget.AddProved(a) }

// DialAPI opens a byte stream to the API listener of another node.
func (t *Transport) DialAPI(ctx context.Context, n grid.NodeID) (net.Conn, error) {
	return t.api.dial(ctx, n)
}

// APIListener accepts the byte streams that others open by DialAPI.
func (t *Transport) APIListener() net.Listener { return t.api }

// Offend counts an offence of a peer, and disconnects the peer if there were too many.
func (t *Transport) Offend(n grid.NodeID, reason string, weight int) {
	t.cfg.Drop(reason)
	if !t.offences.offend(n, weight, time.Now()) {
		return
	}
	t.cfg.Drop("cut off")
	t.cfg.Log.Warn("peer cut off", "node", n.Short(), "reason", reason)
	t.work.Go(func() { t.host.Network().ClosePeer(identity.Peer(n)) })
}

// Disconnect closes all connections with a node.
func (t *Transport) Disconnect(n grid.NodeID) {
	t.work.Go(func() { t.host.Network().ClosePeer(identity.Peer(n)) })
}

// hello returns this node's hello to a peer.
func (t *Transport) hello(to grid.NodeID) *wire.Hello {
	known, age := t.cfg.Generations.Known(to)
	return &wire.Hello{Known: string(known), KnownAge: age,
		Version: wire.Version, Kinds: grid.AllKinds, Features: grid.AllFeatures,
		Software: "skep " + t.cfg.Version, Boot: t.cfg.Boot, Instance: t.cfg.Instance}
}
