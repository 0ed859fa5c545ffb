package reachability

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/node/p2p/transport"
)

// ownAddrs holds the addresses at which the node may be dialled besides those of its interfaces.
type ownAddrs struct {
	announced []ma.Multiaddr // set by the operator; immutable

	mu        sync.Mutex
	host      host.Host      // nil until it is made
	confirmed []ma.Multiaddr // peers have dialled these: of a router that forwards connections
	relayed   []ma.Multiaddr
}

// parseAnnounced parses the addresses set by the operator.
func parseAnnounced(announce []string) (*ownAddrs, error) {
	p := &ownAddrs{}
	for _, text := range announce {
		at, err := transport.TCPAddr(text)
		if err == nil && (at.IP.IsUnspecified() || at.Port == 0) {
			err = errors.New("others cannot dial that: want an address and a port")
		}
		if err != nil {
			return nil, fmt.Errorf("announced address %q: %w", text, err)
		}
		p.announced = append(p.announced, ma.StringCast(text))
	}
	return p, nil
}

// Attach sets the host whose addresses they are.
func (p *ownAddrs) Attach(h host.Host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.host = h
}

// set replaces the confirmed and relayed addresses, and reports whether they have changed.
func (p *ownAddrs) set(seen, relayed []ma.Multiaddr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sameAddrs(p.confirmed, seen) && sameAddrs(p.relayed, relayed) {
		return false
	}
	p.confirmed, p.relayed = seen, relayed
	return true
}

func sameAddrs(a, b []ma.Multiaddr) bool {
	return slices.EqualFunc(a, b, func(x, y ma.Multiaddr) bool { return x.Equal(y) })
}

// Merge makes the node's addresses from those that libp2p proposes. Of these it keeps only the interfaces' own: an
// observed address from which a peer saw a connection is probably that of a NAT, and nobody has dialled it.
func (p *ownAddrs) Merge(proposed []ma.Multiaddr) []ma.Multiaddr {
	p.mu.Lock()
	defer p.mu.Unlock()
	var own []ma.Multiaddr
	if p.host != nil {
		own, _ = p.host.Network().InterfaceListenAddresses()
		proposed = slices.DeleteFunc(slices.Clone(proposed), func(a ma.Multiaddr) bool { return !ma.Contains(own, a) })
	}
	return ma.Unique(slices.Concat(p.announced, proposed, p.confirmed, p.relayed))
}

// order sorts the operator's addresses first, in their order, then those that the machine uses for outbound
// traffic. libp2p sorts by bytes, which puts a private network after the bridges of containers.
func (p *ownAddrs) order(addrs []ma.Multiaddr, out []net.IP) []ma.Multiaddr {
	place := func(a ma.Multiaddr) int {
		if i := slices.IndexFunc(p.announced, a.Equal); i >= 0 {
			return i - len(p.announced)
		}
		if ip, err := manet.ToIP(a); err == nil && !transport.Relayed(a) && slices.ContainsFunc(out, ip.Equal) {
			return 0
		}
		return 1
	}
	addrs = slices.Clone(addrs)
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int { return cmp.Compare(place(a), place(b)) })
	return addrs
}

// outboundIPs returns the addresses of the machine that it uses for outbound traffic. Nothing is sent.
func outboundIPs() (ips []net.IP) {
	for _, world := range []string{"203.0.113.1", "2001:db8::1"} {
		if c, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.ParseIP(world), Port: 9}); err == nil {
			ips = append(ips, c.LocalAddr().(*net.UDPAddr).IP)
			c.Close()
		}
	}
	return ips
}

// circuitAddrs returns the addresses through a relay: by the address at which it was dialled, and for those who
// cannot use that one by a public one of the other IP version, if it announces any.
func circuitAddrs(p peer.ID, dialled ma.Multiaddr, said []ma.Multiaddr) (through []ma.Multiaddr) {
	at := []ma.Multiaddr{dialled}
	other := func(a ma.Multiaddr) bool {
		return manet.IsPublicAddr(a) && !transport.Relayed(a) && a[0].Code() != dialled[0].Code()
	}
	if i := slices.IndexFunc(said, other); i >= 0 && manet.IsPublicAddr(dialled) {
		at = append(at, said[i])
	}
	circuit := ma.StringCast("/p2p/" + p.String() + "/p2p-circuit")
	for _, a := range at {
		through = append(through, a.Encapsulate(circuit))
	}
	return through
}

// maxConfirmed is the number of confirmed addresses that are published: usually one of each IP version. Few, since
// a peer may lie.
const maxConfirmed = 2

// mostConfirmed returns those that most peers report.
func mostConfirmed(seen []ma.Multiaddr) (best []ma.Multiaddr) {
	count := make(map[string]int)
	for _, a := range seen {
		count[a.String()]++
	}
	best = ma.Unique(slices.Clone(seen))
	slices.SortFunc(best, func(a, b ma.Multiaddr) int {
		return cmp.Or(cmp.Compare(count[b.String()], count[a.String()]), a.Compare(b))
	})
	return best[:min(len(best), maxConfirmed)]
}

// Advertised returns at most that many addresses at which others are told to dial this node, the best first.
func (n *Network) Advertised(most int) []string {
	return publishedUpTo(most, n.own.order(n.host.Addrs(), outboundIPs()), n.own.announced)
}

// published is publishedUpTo for another host, with as many as an ad holds.
func published(addrs []ma.Multiaddr) []string { return publishedUpTo(grid.MaxAddrs, addrs, nil) }

// publishedUpTo selects which of a host's addresses to publish, best first: those in best and public ones, then
// relayed, then private; loopback only if there is nothing else. If there are too many, it keeps some of each kind.
func publishedUpTo(most int, addrs, best []ma.Multiaddr) []string {
	var ranked [4][]string
	for _, a := range addrs {
		text := a.String()
		if len(text) > grid.MaxAddr {
			continue
		}
		rank := 2
		if transport.Relayed(a) {
			rank = 1
		} else if ma.Contains(best, a) || manet.IsPublicAddr(a) {
			rank = 0
		} else if manet.IsIPLoopback(a) {
			rank = 3
		}
		ranked[rank] = append(ranked[rank], text)
	}
	told := ranked[:3]
	if len(ranked[0])+len(ranked[1])+len(ranked[2]) == 0 {
		told = ranked[3:]
	}
	for len(slices.Concat(told...)) > most {
		longest := 0
		for i := range told {
			if len(told[i]) >= len(told[longest]) {
				longest = i
			}
		}
		told[longest] = told[longest][:len(told[longest])-1]
	}
	return slices.Concat(told...)
}

// publishAddrs tells the node its addresses, now and whenever they change: libp2p learns from its peers under which
// addresses they see it.
func (n *Network) publishAddrs() {
	sub, err := n.host.EventBus().Subscribe(new(event.EvtLocalAddressesUpdated))
	if err != nil {
		n.cfg.Log.Error("addresses are not followed", "error", err)
		return
	}
	defer sub.Close()
	var last []string
	for {
		if addrs := n.Advertised(grid.MaxAddrs); !slices.Equal(addrs, last) {
			last = addrs
			n.cfg.Event(func(ev *grid.Event) { ev.Kind, ev.Addrs = grid.EvAddrs, addrs })
		}
		select {
		case <-n.ctx.Done():
			return
		case _, ok := <-sub.Out():
			if !ok {
				return
			}
		}
	}
}
