package p2p

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/tcpreuse"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/node/p2p/dials"
)

// payer pays for tries to connect; see dials.Budget.
type payer struct {
	*dials.Budget
	tellers func(grid.NodeID) []grid.NodeID // who told where a node is
	refused func(error)
}

// sparing is TCP that dials only what the node's budget allows. Whatever dials, libp2p's own protocols among it, dials here.
type sparing struct {
	*tcp.TcpTransport
	by *payer // nil: dials all
}

// newSparing returns what makes the transport of a host.
func newSparing(by *payer) any {
	return func(u transport.Upgrader, rc network.ResourceManager, shared *tcpreuse.ConnMgr) (*sparing, error) {
		t, err := tcp.NewTCPTransport(u, rc, shared)
		return &sparing{t, by}, err
	}
}

// Dial connects to a peer.
func (t *sparing) Dial(ctx context.Context, a ma.Multiaddr, p peer.ID) (transport.CapableConn, error) {
	return t.DialWithUpdates(ctx, a, p, nil)
}

// DialWithUpdates connects to a peer and tells how far it has come.
func (t *sparing) DialWithUpdates(ctx context.Context, a ma.Multiaddr, p peer.ID, tell chan<- transport.DialUpdate) (transport.CapableConn, error) {
	if err := t.by.allow(a, p); err != nil {
		return nil, err
	}
	c, err := t.TcpTransport.DialWithUpdates(ctx, a, p, tell)
	if err == nil && t.by != nil {
		t.by.Prove(a)
		t.by.Home(a)
	}
	return c, err
}

func (b *payer) allow(a ma.Multiaddr, p peer.ID) error {
	if b == nil {
		return nil
	}
	n, _ := nodeOf(p)
	err := b.Allow(a, b.tellers(n), time.Now())
	if err != nil {
		b.refused(err)
	}
	return err
}

// newPayer makes the budget of the node's dials.
func newPayer(d *Driver) *payer {
	return &payer{Budget: dials.New(d.self, onlyLoopback(d.cfg.Listen)), tellers: func(n grid.NodeID) []grid.NodeID { return d.dialer.tellers(n) },
		refused: func(err error) {
			if errors.Is(err, dials.ErrLocal) {
				d.counts.drop("dial of an address of the loopback")
			} else {
				d.counts.drop("dial beyond the budget")
			}
		}}
}

// onlyLoopback reports whether a node listens to nobody but its own machine.
func onlyLoopback(listen []string) bool {
	for _, text := range listen {
		a, err := ma.NewMultiaddr(text)
		if err != nil || !manet.IsIPLoopback(a) {
			return false
		}
	}
	return true
}
