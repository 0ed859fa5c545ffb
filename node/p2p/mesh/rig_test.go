package mesh

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	libp2pnet "github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"skep/grid"
	"skep/node/p2p/identity"
)

// site is a node of a test: a libp2p host with a mesh, and the pods of its ranks.
type site struct {
	host host.Host
	id   grid.NodeID
	mesh *Mesh
}

// Open implements Peers.
func (s *site) Open(ctx context.Context, n grid.NodeID, id string) (libp2pnet.Stream, error) {
	return s.host.NewStream(libp2pnet.WithAllowLimitedConn(ctx, "test"), identity.Peer(n), protocol.ID(id))
}

// serve reads the request of a stream as package transport does.
func (s *site) serve(st libp2pnet.Stream) {
	n, _ := identity.Node(st.Conn().RemotePeer())
	request := make([]byte, Request)
	if _, err := io.ReadFull(st, request); err != nil {
		st.Reset()
		return
	}
	s.mesh.Serve(n, st, request, st, func() bool { return true })
	st.Close()
}

// newSite makes a node.
func newSite(t testing.TB, options ...libp2p.Option) *site {
	t.Helper()
	window := *yamux.DefaultTransport
	window.MaxStreamWindowSize = 4 << 20 // as package transport has it
	h, err := libp2p.New(append(options, libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, &window), libp2p.ResourceManager(&libp2pnet.NullResourceManager{}))...)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := identity.Node(h.ID())
	s := &site{host: h, id: n}
	s.mesh = New(context.Background(), Config{Self: n, Peers: s, Log: slog.New(slog.DiscardHandler),
		Drop: func(string) {}})
	h.SetStreamHandler(Protocol, s.serve)
	t.Cleanup(func() { s.mesh.Close(); h.Close() })
	return s
}

// sites makes connected nodes, in the order of their IDs.
func sites(t testing.TB, count int) []*site {
	t.Helper()
	all := make([]*site, count)
	for i := range all {
		all[i] = newSite(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
	}
	slices.SortFunc(all, func(a, b *site) int { return a.id.Compare(b.id) })
	for i, a := range all {
		for _, b := range all[i+1:] {
			a.host.Peerstore().AddAddrs(b.host.ID(), b.host.Addrs(), time.Hour)
			b.host.Peerstore().AddAddrs(a.host.ID(), a.host.Addrs(), time.Hour)
		}
	}
	return all
}
