package hostile

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Options of Join. Token is needed.
type Options struct {
	Token  string             // of the network; the first node that it names is connected to, and is Node
	Key    ed25519.PrivateKey // the identity; nil = a new one
	Listen string             // multiaddress, also dialled from; default an own port of 127.0.0.1
	Boot   uint64             // starts so far that the hello tells; default 1

	// Hear is called, from goroutines of its own, with each message of the nodes; nil: they are not read.
	Hear func(*grid.Message)
}

// Member is one hostile identity. Its methods are safe for concurrent use.
type Member struct {
	host   host.Host
	key    ed25519.PrivateKey
	secret [32]byte
	node   grid.NodeID
	boot   uint64
}

// Join makes an identity and connects it to the node of a token. The caller closes it.
func Join(ctx context.Context, o Options) (*Member, error) {
	t, err := wire.ParseToken(o.Token)
	if err != nil {
		return nil, err
	}
	m := &Member{key: o.Key, secret: t.Secret, boot: max(o.Boot, 1)}
	if m.key == nil {
		if _, m.key, err = ed25519.GenerateKey(nil); err != nil {
			return nil, err
		}
	}
	if m.host, err = newHost(m.key, m.secret, o.Listen); err != nil {
		return nil, err
	}
	m.host.SetStreamHandler(Control, func(st network.Stream) { welcome(st, m.hello(), o.Hear) })
	m.host.SetStreamHandler(pubsub.GossipSubID_v11, func(st network.Stream) { io.Copy(io.Discard, st) })
	err = errors.New("the token names no address")
	for _, a := range t.Addrs {
		if m.node, err = m.Connect(ctx, a); err == nil {
			return m, nil
		}
	}
	m.Close()
	return nil, fmt.Errorf("join: %w", err)
}

func newHost(key ed25519.PrivateKey, secret [32]byte, listen string) (host.Host, error) {
	priv, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if listen == "" {
		listen = "/ip4/127.0.0.1/tcp/0"
	}
	return libp2p.New(libp2p.Identity(priv), libp2p.PrivateNetwork(secret[:]),
		libp2p.NoTransports, libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport), libp2p.ListenAddrStrings(listen),
		libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.DisableMetrics(), libp2p.DisableRelay(),
		libp2p.ForceReachabilityPublic(), libp2p.Ping(false))
}

// Self returns the identity.
func (m *Member) Self() grid.NodeID { return grid.NodeID(m.key.Public().(ed25519.PublicKey)) }

// Node returns the node that was joined.
func (m *Member) Node() grid.NodeID { return m.node }

// Host returns the libp2p host, for what this package does not provide.
func (m *Member) Host() host.Host { return m.host }

// Close closes all connections.
func (m *Member) Close() error { return m.host.Close() }

// Connect connects to another node at a multiaddress that ends in its /p2p identity.
func (m *Member) Connect(ctx context.Context, addr string) (n grid.NodeID, err error) {
	a, err := ma.NewMultiaddr(addr)
	if err != nil {
		return n, err
	}
	info, err := peer.AddrInfoFromP2pAddr(a)
	if err != nil {
		return n, err
	}
	pub, err := info.ID.ExtractPublicKey()
	if err != nil {
		return n, err
	}
	raw, err := pub.Raw()
	if err != nil || len(raw) != len(n) {
		return n, fmt.Errorf("%s: is not the identity of a node", info.ID)
	}
	copy(n[:], raw)
	return n, m.host.Connect(ctx, *info)
}

// Connected reports whether there is a connection to a node.
func (m *Member) Connected(n grid.NodeID) bool {
	return m.host.Network().Connectedness(peerOf(n)) == network.Connected
}

// Stream opens a stream of any protocol. Nothing is read or written.
func (m *Member) Stream(ctx context.Context, to grid.NodeID, id protocol.ID) (network.Stream, error) {
	return m.host.NewStream(network.WithNoDial(ctx, "hostile"), peerOf(to), id)
}

// Topic returns the name of the topic on which the members of the network announce.
func (m *Member) Topic() string {
	h := sha256.Sum256(append([]byte("skep announcements\x00"), m.secret[:]...))
	return "skep/" + hex.EncodeToString(h[:16])
}

func peerOf(n grid.NodeID) peer.ID {
	pub, err := crypto.UnmarshalEd25519PublicKey(n[:])
	if err != nil {
		return ""
	}
	id, err := peer.IDFromPublicKey(pub)
	if err != nil {
		return ""
	}
	return id
}
