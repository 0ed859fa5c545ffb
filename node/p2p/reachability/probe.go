package reachability

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/node/p2p/transport"
	"skep/node/p2p/transport/dials"
	"skep/node/p2p/wire"
)

// A node that dials a peer asks it over this protocol whether it can be dialled in return. The request is the port
// that the node listens on, 2 bytes. The peer dials that port of the address it sees the node at, and no other
// address, so it cannot be used to probe third machines. Whoever answers there must prove to be the asker: a router
// may forward that port to another machine behind it. The answer is a status, and with wire.StatusOK the address, its
// length in a byte before it. AutoNAT, libp2p's own protocol, checks public addresses only and takes half a minute.
const (
	reachProtocol    = "/skep/reach/1"
	reachRequest     = 2
	reachDialTimeout = 3 * time.Second      // for the dial
	reachTimeout     = 2 * reachDialTimeout // for the whole request
	// requests of a peer within reachCooldown of their answers; one more gets "busy"
	reachPerPeer  = 4
	reachAll      = 256
	reachCooldown = 10 * time.Second
)

// reachProbe is the state of a peer that this node has dialled.
type reachProbe struct {
	conn      network.Conn
	answered  bool
	dialledAt ma.Multiaddr // the address at which it can dial this node; nil: none
	reserved  bool         // it relays for this node
	next      time.Time    // of the next probe, reservation or renewal; zero: now, or when relays are wanted
}

// askReach asks a peer, over a direct connection, at which address it can dial this node; nil: at none.
func (n *Network) askReach(c network.Conn) (ma.Multiaddr, error) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(n.ctx, "skep"), reachTimeout)
	defer cancel()
	st, err := n.host.NewStream(ctx, c.RemotePeer(), reachProtocol)
	if err != nil {
		return nil, err
	}
	defer st.Reset()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	// If there are two connections to the peer, the stream may be on the other one.
	port := listenPort(n.host, st.Conn().LocalMultiaddr())
	if port == 0 {
		return nil, nil
	}
	st.SetDeadline(time.Now().Add(reachTimeout))
	if _, err := st.Write(binary.BigEndian.AppendUint16(nil, port)); err != nil {
		return nil, err
	}
	var answer [2]byte
	if _, err := io.ReadFull(st, answer[:]); err != nil {
		return nil, err
	}
	switch answer[0] {
	case wire.StatusOK:
	case wire.StatusNone:
		return nil, nil
	default:
		return nil, errors.New("busy")
	}
	b := make([]byte, answer[1])
	if _, err := io.ReadFull(st, b); err != nil {
		return nil, err
	}
	addr, err := ma.NewMultiaddrBytes(b)
	if err != nil {
		return nil, err
	}
	na, err := manet.ToNetAddr(addr)
	at, ok := na.(*net.TCPAddr)
	if err != nil || !ok || at.Port != int(port) {
		return nil, fmt.Errorf("dialled at %s: want port %d of TCP", addr, port)
	}
	return manet.FromNetAddr(at)
}

// listenPort returns the port on which a host listens at one of its own addresses; 0: none.
func listenPort(h host.Host, local ma.Multiaddr) uint16 {
	own, err := manet.ToIP(local)
	if err != nil {
		return 0
	}
	for _, a := range h.Network().ListenAddresses() {
		ip, err := manet.ToIP(a)
		if err != nil || (ip.To4() == nil) != (own.To4() == nil) || !ip.IsUnspecified() && !ip.Equal(own) {
			continue
		}
		if text, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			if port, err := strconv.ParseUint(text, 10, 16); err == nil {
				return uint16(port)
			}
		}
	}
	return 0
}

// serveReach dials the asker and answers the request.
func (n *Network) serveReach(_ grid.NodeID, st network.Stream, ask []byte, _ io.Writer) {
	ctx, cancel := context.WithTimeout(n.ctx, reachDialTimeout)
	defer cancel()
	addr, err := n.tryDial(ctx, st.Conn().RemotePeer(), st.Conn().RemoteMultiaddr(), binary.BigEndian.Uint16(ask))
	if errors.Is(err, dials.ErrBudget) {
		st.Write([]byte{wire.StatusBusy, 0})
		return
	}
	if addr == nil {
		st.Write([]byte{wire.StatusNone, 0})
		return
	}
	st.Write(append([]byte{wire.StatusOK, byte(len(addr.Bytes()))}, addr.Bytes()...))
}

// tryDial returns the seen address with the given port if the asker answers there, else nil.
func (n *Network) tryDial(ctx context.Context, asker peer.ID, seen ma.Multiaddr, port uint16) (ma.Multiaddr, error) {
	ip, err := manet.ToIP(seen)
	if err != nil || transport.Relayed(seen) {
		return nil, nil
	}
	addr, err := manet.FromNetAddr(&net.TCPAddr{IP: ip, Port: int(port)})
	if err != nil {
		return nil, nil
	}
	s, ok := n.host.Network().(*swarm.Swarm)
	if !ok {
		return nil, nil
	}
	t := s.TransportForDialing(addr) // the swarm would reuse the existing connection
	if t == nil {
		return nil, nil
	}
	c, err := t.Dial(ctx, addr, asker)
	if err != nil {
		return nil, err
	}
	c.Close()
	return addr, nil
}
