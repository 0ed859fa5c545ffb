package p2p

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"

	"skep/grid"
)

// publishAddrs tells the node its addresses, now and whenever they change: libp2p learns from its peers under which
// addresses they see it.
func (d *Driver) publishAddrs() {
	sub, err := d.host.EventBus().Subscribe(new(event.EvtLocalAddressesUpdated))
	if err != nil {
		d.log.Error("addresses are not followed", "error", err)
		return
	}
	defer sub.Close()
	var last []string
	for {
		if addrs := d.advertisedAddrs(grid.MaxAddrs); !slices.Equal(addrs, last) {
			last = addrs
			d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Addrs = grid.EvAddrs, addrs })
		}
		select {
		case <-d.ctx.Done():
			return
		case _, ok := <-sub.Out():
			if !ok {
				return
			}
		}
	}
}

// startMDNS searches for members on the local network. The service's name does not reveal the secret.
func (d *Driver) startMDNS() {
	s := mdns.NewMdnsService(d.host, "_skep-"+derive(d.secret, "mdns")[:10]+"._udp", finder{d})
	if err := s.Start(); err != nil {
		d.log.Warn("no search on the local network", "error", err)
		return
	}
	d.onClose(func() { s.Close() })
}

// finder receives the results of mDNS.
type finder struct{ d *Driver }

// HandlePeerFound makes the dialer dial a member.
func (f finder) HandlePeerFound(info peer.AddrInfo) {
	if n, ok := nodeOf(info.ID); ok {
		f.d.dialer.discovered(n, texts(info.Addrs))
	}
}
