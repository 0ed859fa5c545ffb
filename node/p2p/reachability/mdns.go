package reachability

import (
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"

	"skep/node/p2p/identity"
)

// startMDNS searches for members on the local network. The service's name does not reveal the secret.
func (n *Network) startMDNS() {
	s := mdns.NewMdnsService(n.host, "_skep-"+identity.Derive(n.cfg.Secret, "mdns")[:10]+"._udp", finder{n.dialer})
	if err := s.Start(); err != nil {
		n.cfg.Log.Warn("no search on the local network", "error", err)
		return
	}
	n.mdns = s
}

// finder receives the results of mDNS.
type finder struct{ dialer *dialer }

// HandlePeerFound makes the dialer dial a member.
func (f finder) HandlePeerFound(info peer.AddrInfo) {
	if n, ok := identity.Node(info.ID); ok {
		f.dialer.discovered(n, texts(info.Addrs))
	}
}
