package credentials

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"

	"skep/grid"
	"skep/node/p2p/identity"
)

// exchangeTime bounds an exchange.
const exchangeTime = 2 * time.Second

// securityID is the security protocol of networks with certificates. A node that speaks another one gets no further.
const securityID protocol.ID = "/skep/noise-certificates/1"

// Security is a security transport that lets members in alone.
type Security struct {
	sec.SecureTransport
	k *Keeper
}

// Secure returns a security transport that lets only members in of what another one has secured.
func (k *Keeper) Secure(inner sec.SecureTransport) sec.SecureTransport { return &Security{inner, k} }

// ID returns the protocol.
func (s *Security) ID() protocol.ID { return securityID }

// SecureInbound secures a connection that a peer has made, and lets the peer in if it is a member.
func (s *Security) SecureInbound(ctx context.Context, c net.Conn, p peer.ID) (sec.SecureConn, error) {
	secured, err := s.SecureTransport.SecureInbound(ctx, c, p)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	free, err := s.k.seats.take(wait, c.RemoteAddr())
	if err != nil {
		secured.Close()
		return nil, err
	}
	defer free()
	return s.finish(ctx, secured, func(n grid.NodeID) error { return s.k.Respond(secured, n) })
}

// SecureOutbound secures a connection to a peer, and goes on if the peer is a member and lets this node in.
func (s *Security) SecureOutbound(ctx context.Context, c net.Conn, p peer.ID) (sec.SecureConn, error) {
	secured, err := s.SecureTransport.SecureOutbound(ctx, c, p)
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, secured, func(n grid.NodeID) error { return s.k.Initiate(secured, n) })
}

// finish does one side of the exchange on a secured connection, which is closed if it fails.
func (s *Security) finish(ctx context.Context, c sec.SecureConn,
	exchange func(grid.NodeID) error) (sec.SecureConn, error) {
	n, ok := identity.Node(c.RemotePeer())
	if !ok {
		c.Close()
		return nil, errors.New("a peer without an Ed25519 key")
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	c.SetDeadline(time.Now().Add(exchangeTime))
	err := exchange(n)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		s.k.refused(n, err)
		return nil, fmt.Errorf("certificates: %w", err)
	}
	return c, c.SetDeadline(time.Time{})
}

// refused logs that a peer was not let in, if that is for what it has shown.
func (k *Keeper) refused(n grid.NodeID, err error) {
	if errors.Is(err, ErrNone) || errors.Is(err, ErrRefused) || isNetwork(err) {
		k.cfg.Log.Debug("no connection", "node", n.Short(), "reason", err)
		return
	}
	k.say(&k.strangers, "a node is not let in", n, err)
}

// isNetwork reports whether an error is that of the connection.
func isNetwork(err error) bool {
	var of net.Error
	return errors.As(err, &of)
}

// say logs something about a node, unless it was said of late.
func (k *Keeper) say(s *said, what string, n grid.NodeID, why error) {
	if s.isNew(what+n.String()+why.Error(), time.Now()) {
		k.cfg.Log.Warn(what, "node", n.Short(), "reason", why)
	}
}
