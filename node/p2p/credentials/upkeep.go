package credentials

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
	"skep/node/p2p/transport"
)

// Protocol is that of streams on which members repeat the exchange.
const Protocol protocol.ID = "/skep/certificates/1"

// Times of the upkeep.
const (
	standsEvery = time.Second     // connected peers are looked at whether their certificates hold
	retryRenew  = time.Minute     // after a renewal that failed
	lookRenew   = time.Minute     // it is looked whether a renewal is due
	waitQuietly = 3 * time.Second // before it is said that this node waits to be let in
	sayWaiting  = time.Minute     // and said again
	pushTime    = 5 * time.Second // of an exchange on a stream, with a dial before it
)

// Network is how a keeper reaches the others.
type Network interface {
	Connected() []grid.NodeID
	// Open opens a stream to a node, which is dialled if it is not connected.
	Open(ctx context.Context, n grid.NodeID, protocol string) (network.Stream, error)
	Disconnect(n grid.NodeID)
}

// Service returns the service that answers exchanges on streams.
func (k *Keeper) Service() transport.Service {
	return transport.Service{Protocol: Protocol, PerPeer: 2, All: 64, Inbound: 8,
		Serve: func(from grid.NodeID, st network.Stream, _ []byte, _ io.Writer) {
			st.SetDeadline(time.Now().Add(pushTime))
			if err := k.Respond(st, from); err != nil {
				k.refused(from, err)
				st.Reset()
			}
		}}
}

// Run renews this node's certificate, tells the others what has changed, and disconnects who is a member no more, until
// ctx ends.
func (k *Keeper) Run(ctx context.Context, net Network) {
	told := newTelling(func(n grid.NodeID) error { return k.repeat(ctx, net, n) })
	defer told.wait()
	stands := time.NewTicker(standsEvery)
	defer stands.Stop()
	waiting := time.NewTimer(waitQuietly)
	defer waiting.Stop()
	renew := time.NewTimer(0)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stands.C:
			k.disconnect(net)
		case <-waiting.C:
			k.sayWaiting()
			waiting.Reset(sayWaiting)
		case <-renew.C:
			renew.Reset(k.renew(ctx, net))
		case <-k.kick:
			k.disconnect(net) // first: who is out is told nothing
			for _, n := range net.Connected() {
				told.tell(ctx, n)
			}
			renew.Reset(k.untilRenewal())
		}
	}
}

// disconnect disconnects the peers whose certificates do not hold any more.
func (k *Keeper) disconnect(net Network) {
	for _, n := range net.Connected() {
		if err := k.Stands(n); err != nil {
			k.cfg.Log.Info("node disconnected", "node", n.Short(), "reason", err)
			net.Disconnect(n)
		}
	}
}

// repeat exchanges certificates with a node on a stream.
func (k *Keeper) repeat(ctx context.Context, net Network, n grid.NodeID) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	st, err := net.Open(ctx, n, string(Protocol))
	if err != nil {
		return err
	}
	defer st.Close()
	st.SetDeadline(time.Now().Add(pushTime))
	if err = k.Initiate(st, n); err != nil {
		st.Reset()
		k.refused(n, err)
	}
	return err
}

// renew renews this node's certificate if that is due, and returns how long to sleep.
func (k *Keeper) renew(ctx context.Context, net Network) time.Duration {
	if wait := k.untilRenewal(); wait > 0 {
		return wait
	}
	own := k.Of(k.cfg.Self)
	if own.Issuer.Node == k.cfg.Self {
		k.mu.Lock()
		err := k.issueOwn()
		k.mu.Unlock()
		if err != nil {
			k.cfg.Log.Error("this node's certificate is not renewed", "error", err)
			return retryRenew
		}
		return k.untilRenewal()
	}
	if err := k.repeat(ctx, net, own.Issuer.Node); err != nil && ctx.Err() == nil {
		k.say(&k.issuers, "this node's certificate is not renewed yet, as its issuer cannot be asked; it holds until "+
			own.Until.Wall().Format(time.RFC3339), own.Issuer.Node, plain(err))
		return min(retryRenew, k.cfg.Life/20)
	}
	return max(k.untilRenewal(), min(retryRenew, k.cfg.Life/20))
}

// plain returns an error without what differs each time.
func plain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || isNetwork(err) {
		return errors.New("it does not answer")
	}
	return err
}

// untilRenewal returns how long to sleep until this node's certificate is to be renewed: not long, as timers stand
// still while the machine is suspended, and certificates do not.
func (k *Keeper) untilRenewal() time.Duration {
	own := k.Of(k.cfg.Self)
	if own == nil {
		return lookRenew // the certificate, when it comes, is a change
	}
	return min(max(k.renewAt(own).Wall().Sub(k.cfg.Now()), 0), lookRenew)
}

// sayWaiting logs that this node waits to be let in.
func (k *Keeper) sayWaiting() {
	k.mu.Lock()
	t, own := k.ticket, k.own
	k.mu.Unlock()
	if t != nil && own == nil {
		k.cfg.Log.Warn("waits to be let in: the node that gave the invite has to be reached directly, as it alone redeems it",
			"issuer", t.Invite.Issuer.Short(), "expires", t.Invite.Until.Wall())
	}
}
