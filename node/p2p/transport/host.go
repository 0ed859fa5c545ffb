package transport

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/x/rate"
	"golang.org/x/sys/unix"
)

// Everything about how membership is enforced and which transports are spoken is in this file: a private network,
// which means TCP + Noise + yamux. Where the network has certificates Credentials exchanges them within the security
// protocol. With QUIC that would have to be within its TLS handshake, or before the first stream: it is not spoken.

// Connections beyond highWater are closed down to lowWater, except those of neighbours.
const (
	lowWater  = 192
	highWater = 256
)

// ReservationTTL is how long a member relays for another that does not renew its reservation.
const ReservationTTL = time.Hour

// relaying bounds what a member relays. libp2p's bounds of 8 nodes for each address and 16 connections for each
// node would partition the nodes behind one NAT. Each connection takes two buffers; 64 KiB is a window's worth of a
// fast line.
var relaying = relay.Resources{
	ReservationTTL: ReservationTTL, MaxReservations: 1024, MaxReservationsPerIP: 512, MaxReservationsPerASN: 1024,
	MaxCircuits: 64, BufferSize: 64 << 10,
}

// maxRelayedConns is the number of connections that a member relays at once. libp2p's default limits of the relay
// service are for buffers of 2 KiB, and lower on a small machine, as a relay usually is. The relay may take nearly
// four fifths of the memory that it is allowed.
const maxRelayedConns = 512

var relayLimits = rcmgr.ResourceLimits{Streams: 2*maxRelayedConns + 64, StreamsInbound: maxRelayedConns + 64,
	StreamsOutbound: maxRelayedConns,
	Memory:          rcmgr.LimitVal64(maxRelayedConns * 2 * relaying.BufferSize * 4 / 3)}

// relayingHost is a host with its relay service.
type relayingHost struct {
	host.Host
	relay *relay.Relay
}

// Close stops relaying and closes the host.
func (h relayingHost) Close() error { return errors.Join(h.relay.Close(), h.Host.Close()) }

// newHost makes a libp2p host that only those who know the secret can connect to.
func newHost(cfg *Config, g *connGater, budget *dialBudget) (host.Host, error) {
	priv, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	for _, text := range cfg.Listen {
		if err := CheckListen(text); err != nil {
			return nil, err
		}
	}
	resources, err := newResources(cfg.Services)
	if err != nil {
		return nil, err
	}
	connections, err := connmgr.NewConnManager(lowWater, highWater, connmgr.WithGracePeriod(30*time.Second))
	if err != nil {
		resources.Close()
		return nil, err
	}
	h, err := newBasicHost(cfg, &hostParts{priv, resources, connections, g, budget})
	if err != nil {
		connections.Close()
		resources.Close()
		return nil, fmt.Errorf("listen on %v: %w", cfg.Listen, err)
	}
	cfg.Addrs.Attach(h)
	if !cfg.Credentials.MayRelay(cfg.Self) {
		return h, nil
	}
	// Members relay for each other without limit of time or volume: they already run each other's programs.
	r, err := relay.New(h, relay.WithResources(relaying))
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("relay: %w", err)
	}
	return relayingHost{h, r}, nil
}

// Bounds, by libp2p's account, of received bytes that are not read yet: 256 KiB for each stream, and more where the
// muxer has widened a stream's window, which it does up to half of these bounds and to maxWindow.
const (
	memoryAll  = 448 << 20
	memoryPeer = 68 << 20 // 64 relayed connections, and all served streams

	memoryStream = 256 << 10
)

// outboundStreams bounds the streams of a protocol to one peer.
const outboundStreams = 128

// limitsOfPeer bounds the connections and streams of one peer.
func limitsOfPeer(services []Service) rcmgr.ResourceLimits {
	l := rcmgr.ResourceLimits{Conns: 8, ConnsInbound: 8, ConnsOutbound: 8, Streams: 576, StreamsInbound: 320,
		StreamsOutbound: 256, Memory: memoryPeer}
	for _, s := range services {
		if s.Outbound == 0 {
			continue
		}
		in, out := rcmgr.LimitVal(s.Inbound), rcmgr.LimitVal(s.Outbound)
		l.Streams, l.StreamsInbound, l.StreamsOutbound = l.Streams+in+out, l.StreamsInbound+in, l.StreamsOutbound+out
		l.Memory += rcmgr.LimitVal64(s.Inbound) * memoryStream
	}
	return l
}

// streamsOfPeer bounds the streams of one peer by protocol.
func streamsOfPeer(services []Service) map[protocol.ID]rcmgr.ResourceLimits {
	m := make(map[protocol.ID]rcmgr.ResourceLimits)
	limit := func(id protocol.ID, inbound, outbound int) {
		in, out := rcmgr.LimitVal(inbound), rcmgr.LimitVal(outbound)
		m[id] = rcmgr.ResourceLimits{Streams: in + out, StreamsInbound: in, StreamsOutbound: out}
	}
	limit(controlProtocol, 8, outboundStreams)
	limit(apiProtocol, ServesPerPeer*3/2, outboundStreams)
	for _, s := range services {
		limit(s.Protocol, s.Inbound, cmp.Or(s.Outbound, outboundStreams))
	}
	for _, id := range gossipProtocols {
		m[id] = rcmgr.ResourceLimits{Streams: 16, StreamsInbound: 8, StreamsOutbound: 8}
	}
	return m
}

// descriptors is the number of file descriptors that connections with peers may take: half of the process's limit.
func descriptors() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 256
	}
	return int(min(lim.Cur/2, 1024))
}

// newResources bounds the resources of all peers together and of each. libp2p's caps of 8 connections for each IPv4
// address, and of one new connection in 5 s, would keep a grid of containers behind one address apart.
func newResources(services []Service) (network.ResourceManager, error) {
	scaling := rcmgr.DefaultLimits
	addServiceLimits(&scaling)
	descriptors := rcmgr.LimitVal(descriptors())
	limits := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{Conns: 1024, ConnsInbound: 768, ConnsOutbound: 768, Streams: 16384, StreamsInbound: 8192,
			StreamsOutbound: 8192,
			FD:              descriptors, Memory: memoryAll},
		Transient: rcmgr.ResourceLimits{Conns: 256, ConnsInbound: 192, ConnsOutbound: 128, Streams: 1024,
			StreamsInbound: 512, StreamsOutbound: 1024, FD: descriptors / 2},
		PeerDefault:     limitsOfPeer(services),
		ProtocolDefault: rcmgr.ResourceLimits{Streams: 8192, StreamsInbound: 4096, StreamsOutbound: 4096},
		Service:         map[string]rcmgr.ResourceLimits{relay.ServiceName: relayLimits},
		// MaxCircuits, and reservations
		ServicePeer: map[string]rcmgr.ResourceLimits{relay.ServiceName: {Streams: 80, StreamsInbound: 80,
			StreamsOutbound: 80}},
		ProtocolPeerDefault: rcmgr.ResourceLimits{Streams: 256, StreamsInbound: 128, StreamsOutbound: 128},
		ProtocolPeer:        streamsOfPeer(services),
	}.Build(scaling.AutoScale())
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits),
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: 512}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: 512}}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{GlobalLimit: rate.Limit{RPS: 50, Burst: 512}}),
		rcmgr.WithMetricsDisabled())
}

// CheckListen returns an error for an address that cannot be listened on. libp2p's listeners set SO_REUSEPORT, so two
// nodes with one port would both start and each get half of the connections.
func CheckListen(text string) error {
	at, err := TCPAddr(text)
	if err != nil {
		return fmt.Errorf("listen address %q: %w", text, err)
	}
	if at.Port == 0 {
		return nil
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return fmt.Errorf("listen on %s: %w", text, err)
	}
	return l.Close()
}
