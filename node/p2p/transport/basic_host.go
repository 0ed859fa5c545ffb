package transport

import (
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/host/autonat"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/observedaddrs"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
)

// basicHost is a libp2p host made of the parts that a node uses. libp2p.New would link QUIC, WebRTC, WebTransport and
// WebSocket as well, which a private network excludes: 130 packages, whose initialisation each verb of the client
// would wait for. The parts are joined as libp2p.New joins them.
type basicHost struct {
	*basichost.BasicHost
	observed *observedaddrs.Manager
}

// Close ends the host and what belongs to it.
func (h basicHost) Close() error { return errors.Join(h.observed.Close(), h.BasicHost.Close()) }

// hostParts are what a host is made of besides what Config says. A host that was made closes them.
type hostParts struct {
	key         crypto.PrivKey
	resources   network.ResourceManager
	connections *connmgr.BasicConnMgr
	gater       *connGater
	budget      *dialBudget
}

// newBasicHost makes a host and begins to listen.
func newBasicHost(cfg *Config, parts *hostParts) (_ *basicHost, err error) {
	bus := eventbus.NewBus()
	known, err := newPeerstore(parts.key)
	if err != nil {
		return nil, err
	}
	self, err := peer.IDFromPrivateKey(parts.key)
	if err != nil {
		return nil, errors.Join(err, known.Close())
	}
	s, err := swarm.NewSwarm(self, known, bus, swarm.WithConnectionGater(parts.gater),
		swarm.WithDialTimeout(DialDeadline), swarm.WithResourceManager(parts.resources))
	if err != nil {
		return nil, errors.Join(err, known.Close())
	}
	observed, err := observedaddrs.NewManager(bus, s)
	if err != nil {
		return nil, errors.Join(err, s.Close(), known.Close())
	}
	h := &basicHost{observed: observed}
	h.BasicHost, err = basichost.NewHost(s, &basichost.HostOpts{EventBus: bus, ConnManager: parts.connections,
		AddrsFactory: cfg.Addrs.Merge, UserAgent: "skep", EnableHolePunching: true, ObservedAddrsManager: observed})
	if err != nil {
		return nil, errors.Join(err, observed.Close(), s.Close(), known.Close())
	}
	if err := h.start(cfg, parts, s); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// newPeerstore makes an empty peerstore that knows the node's own key.
func newPeerstore(key crypto.PrivKey) (peerstore.Peerstore, error) {
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	known, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(known.AddPrivKey(self, key), known.AddPubKey(self, key.GetPublic())); err != nil {
		return nil, errors.Join(err, known.Close())
	}
	return known, nil
}

// start adds the transports, listens, and begins to serve.
func (h *basicHost) start(cfg *Config, parts *hostParts, s *swarm.Swarm) error {
	up, err := newUpgrader(cfg, parts)
	if err != nil {
		return err
	}
	direct, err := newBudgetedTCP(up, parts.resources, parts.budget)
	if err != nil {
		return err
	}
	if err := s.AddTransport(direct); err != nil {
		return err
	}
	if err := client.AddTransport(h.BasicHost, up); err != nil {
		return err
	}
	addrs := make([]ma.Multiaddr, len(cfg.Listen))
	for i, text := range cfg.Listen {
		if addrs[i], err = ma.NewMultiaddr(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	if err := s.Listen(addrs...); err != nil {
		return err
	}
	h.observed.Start(s)
	h.Start()
	// AutoNAT is not used: package reachability finds out. Other protocols wait for its answer.
	answer, err := autonat.New(h.BasicHost, autonat.WithReachability(network.ReachabilityPublic))
	if err != nil {
		return err
	}
	h.SetAutoNat(answer)
	return nil
}

// newUpgrader makes what turns a TCP connection into one of members: the network's secret, Noise and yamux.
func newUpgrader(cfg *Config, parts *hostParts) (transport.Upgrader, error) {
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: newMuxer()}}
	security, err := noise.New(noise.ID, parts.key, muxers)
	if err != nil {
		return nil, err
	}
	members := []sec.SecureTransport{cfg.Credentials.Secure(security)}
	return upgrader.New(members, muxers, cfg.Secret[:], parts.resources, parts.gater)
}
