package transport

import (
	"errors"
	"fmt"
	"net"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// TCPAddr parses a TCP multiaddress.
func TCPAddr(text string) (*net.TCPAddr, error) {
	addr, err := ma.NewMultiaddr(text)
	if err != nil {
		return nil, fmt.Errorf("want a multiaddress such as /ip4/0.0.0.0/tcp/4001: %w", err)
	}
	na, err := manet.ToNetAddr(addr)
	at, ok := na.(*net.TCPAddr)
	if err != nil || !ok {
		return nil, errors.New("want /ip4/ADDRESS/tcp/PORT or /ip6/ADDRESS/tcp/PORT")
	}
	return at, nil
}

// Relayed reports whether an address is one of a relay circuit.
func Relayed(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}

// DirectConn returns a connection to a peer that is not relayed, preferably an outbound one; nil: none.
func DirectConn(h host.Host, p peer.ID) (found network.Conn) {
	for _, c := range h.Network().ConnsToPeer(p) {
		if !Relayed(c.RemoteMultiaddr()) && !c.IsClosed() && (found == nil || c.Stat().Direction == network.DirOutbound) {
			found = c
		}
	}
	return found
}
