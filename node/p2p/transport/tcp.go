package transport

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/transport/dials"
)

// dialBudget accounts for dials; see dials.Budget.
type dialBudget struct {
	*dials.Budget
	reporters func(grid.NodeID) []grid.NodeID // nodes that reported the addresses of a node
	refused   func(error)
}

// budgetedTCP is a TCP transport that dials only what the node's budget allows. All dials go through it, those of
// libp2p's own protocols included.
type budgetedTCP struct {
	*tcp.TcpTransport
	budget *dialBudget // nil: no bound
}

// newBudgetedTCP makes a host's transport.
func newBudgetedTCP(u transport.Upgrader, rc network.ResourceManager, by *dialBudget) (*budgetedTCP, error) {
	t, err := tcp.NewTCPTransport(u, rc, nil)
	return &budgetedTCP{t, by}, err
}

// Dial connects to a peer.
func (t *budgetedTCP) Dial(ctx context.Context, a ma.Multiaddr, p peer.ID) (transport.CapableConn, error) {
	return t.DialWithUpdates(ctx, a, p, nil)
}

// DialWithUpdates connects to a peer and reports progress to tell.
func (t *budgetedTCP) DialWithUpdates(ctx context.Context, a ma.Multiaddr, p peer.ID,
	tell chan<- transport.DialUpdate) (transport.CapableConn, error) {
	if err := t.budget.allow(a, p); err != nil {
		return nil, err
	}
	c, err := t.TcpTransport.DialWithUpdates(ctx, a, p, tell)
	if err == nil && t.budget != nil {
		t.budget.AddProved(a)
		t.budget.AddMemberHost(a)
	}
	return c, err
}

func (b *dialBudget) allow(a ma.Multiaddr, p peer.ID) error {
	if b == nil {
		return nil
	}
	n, _ := identity.Node(p)
	err := b.Allow(a, b.reporters(n), time.Now())
	if err != nil {
		b.refused(err)
	}
	return err
}

// newDialBudget makes the budget of the node's dials.
func newDialBudget(t *Transport) *dialBudget {
	return &dialBudget{Budget: dials.New(t.cfg.Self, onlyLoopback(t.cfg.Listen)), reporters: t.contacts.Reporters,
		refused: func(err error) {
			if errors.Is(err, dials.ErrLocal) {
				t.cfg.Drop("dial of an address of the loopback")
			} else {
				t.cfg.Drop("dial beyond the budget")
			}
		}}
}

// onlyLoopback reports whether a node listens on loopback addresses only.
func onlyLoopback(listen []string) bool {
	for _, text := range listen {
		a, err := ma.NewMultiaddr(text)
		if err != nil || !manet.IsIPLoopback(a) {
			return false
		}
	}
	return true
}
