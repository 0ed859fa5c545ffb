package p2p

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/autorelay"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
)

// This file is all there is about how membership is enforced and which transports are spoken: today a
// private network, which means TCP + Noise + yamux. Membership certificates over QUIC would go here.

// Connections beyond highWater are closed down to lowWater, neighbours excepted.
const (
	lowWater  = 192
	highWater = 256
)

// relayingHost is a host with the relay that it is for others.
type relayingHost struct {
	host.Host
	relay *relay.Relay
}

// Close stops relaying and closes the host.
func (h relayingHost) Close() error { return errors.Join(h.relay.Close(), h.Host.Close()) }

// newHost makes a libp2p host that only those who know the secret can connect to.
func newHost(key ed25519.PrivateKey, secret [32]byte, listen []string, g *gate) (host.Host, error) {
	priv, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if err := checkListen(listen); err != nil {
		return nil, err
	}
	resources, err := newResources()
	if err != nil {
		return nil, err
	}
	connections, err := connmgr.NewConnManager(lowWater, highWater, connmgr.WithGracePeriod(30*time.Second))
	if err != nil {
		resources.Close()
		return nil, err
	}
	var h host.Host
	members := func(ctx context.Context, n int) <-chan peer.AddrInfo { return connectedPeers(h, n) }
	h, err = libp2p.New(
		libp2p.Identity(priv),
		libp2p.PrivateNetwork(secret[:]),
		libp2p.NoTransports, libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ListenAddrStrings(listen...),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(connections),
		libp2p.ConnectionGater(g),
		libp2p.UserAgent("skep"),
		libp2p.DisableMetrics(),
		libp2p.Ping(false),
		libp2p.WithDialTimeout(dialDeadline),
		libp2p.EnableRelay(),
		libp2p.EnableHolePunching(),
		libp2p.EnableNATService(),
		libp2p.EnableAutoRelayWithPeerSource(members, autorelay.WithMinInterval(time.Minute), autorelay.WithBootDelay(time.Minute)),
	)
	if err != nil {
		connections.Close()
		resources.Close()
		return nil, fmt.Errorf("listen on %v: %w", listen, err)
	}
	// Members relay for each other without a limit of time or volume: they already run each other's programs.
	r, err := relay.New(h, relay.WithInfiniteLimits())
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("relay: %w", err)
	}
	return relayingHost{h, r}, nil
}

// newResources bounds what all and each peer may take. libp2p's own caps of 8 connections for each IPv4
// address, and of one new connection in 5 s, would keep a grid of containers behind one address apart.
func newResources() (network.ResourceManager, error) {
	scaling := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&scaling)
	limits := rcmgr.PartialLimitConfig{
		System:              rcmgr.ResourceLimits{Conns: 1024, ConnsInbound: 768, ConnsOutbound: 768, Streams: 16384, StreamsInbound: 8192, StreamsOutbound: 8192, FD: 1024},
		Transient:           rcmgr.ResourceLimits{Conns: 256, ConnsInbound: 192, ConnsOutbound: 128, Streams: 1024, StreamsInbound: 512, StreamsOutbound: 1024},
		PeerDefault:         rcmgr.ResourceLimits{Conns: 8, ConnsInbound: 8, ConnsOutbound: 8, Streams: 512, StreamsInbound: 256, StreamsOutbound: 256},
		ProtocolDefault:     rcmgr.ResourceLimits{Streams: 8192, StreamsInbound: 4096, StreamsOutbound: 4096},
		ProtocolPeerDefault: rcmgr.ResourceLimits{Streams: 256, StreamsInbound: 128, StreamsOutbound: 128},
	}.Build(scaling.AutoScale())
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits),
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: 512}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: 512}}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{GlobalLimit: rate.Limit{RPS: 50, Burst: 512}}),
		rcmgr.WithMetricsDisabled())
}

// checkListen reports addresses that cannot be listened on. libp2p's own listeners share ports, so that
// two nodes with one port would both start and each get half of the connections.
func checkListen(listen []string) error {
	for _, text := range listen {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("listen address %q: want a multiaddress such as /ip4/0.0.0.0/tcp/4001: %w", text, err)
		}
		na, err := manet.ToNetAddr(addr)
		if _, ok := na.(*net.TCPAddr); err != nil || !ok {
			return fmt.Errorf("listen address %q: want /ip4/ADDRESS/tcp/PORT or /ip6/ADDRESS/tcp/PORT", text)
		}
		if na.(*net.TCPAddr).Port == 0 {
			continue
		}
		l, err := net.Listen("tcp", na.String())
		if err != nil {
			var op *net.OpError
			if errors.As(err, &op) {
				err = op.Err
			}
			return fmt.Errorf("listen on %s: %w", text, err)
		}
		l.Close()
	}
	return nil
}

// connectedPeers offers up to n connected members as relays.
func connectedPeers(h host.Host, n int) <-chan peer.AddrInfo {
	found := make(chan peer.AddrInfo, n)
	defer close(found)
	if h == nil {
		return found
	}
	for _, c := range h.Network().Conns() {
		if len(found) == n {
			break
		}
		if !c.Stat().Limited {
			found <- peer.AddrInfo{ID: c.RemotePeer(), Addrs: []ma.Multiaddr{c.RemoteMultiaddr()}}
		}
	}
	return found
}

// published picks which of the host's addresses others are told, best first: public ones, then relayed,
// then private; loopback only if there is nothing else.
func published(addrs []ma.Multiaddr) []string {
	var ranked [4][]string
	for _, a := range addrs {
		text := a.String()
		if len(text) > grid.MaxAddr {
			continue
		}
		rank := 2
		if _, err := a.ValueForProtocol(ma.P_CIRCUIT); err == nil {
			rank = 1
		} else if manet.IsPublicAddr(a) {
			rank = 0
		} else if manet.IsIPLoopback(a) {
			rank = 3
		}
		ranked[rank] = append(ranked[rank], text)
	}
	var best []string
	for _, r := range ranked[:3] {
		best = append(best, r...)
	}
	if len(best) == 0 {
		best = ranked[3]
	}
	return best[:min(len(best), grid.MaxAddrs)]
}

// protectTag marks neighbours, whose connections are kept.
const protectTag = "neighbour"
