package transport

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"skep/grid"
	"skep/node/p2p/identity"
)

// closable is a connection of which nothing is known but whether it is closed.
type closable struct {
	network.Conn
	node   grid.NodeID
	closed bool
}

func (c *closable) IsClosed() bool           { return c.closed }
func (c *closable) RemotePeer() peer.ID      { return identity.Peer(c.node) }
func (p *peers) hasRival(n grid.NodeID) bool { _, ok := p.rivals[n]; return ok }

// Before start nothing tells that a connection is closed.
func TestClosedRivalsAreForgotten(t *testing.T) {
	tr := &Transport{}
	tr.peers = newPeers(tr)
	early := &closable{node: grid.NodeID{1}}
	tr.NoteInstance(early.node, 7, early)
	if tr.ConnOfOther(early.node, 8) == nil {
		t.Fatal("the connection is not known")
	}
	early.closed = true
	late := &closable{node: grid.NodeID{2}}
	tr.NoteInstance(late.node, 7, late)
	if tr.peers.hasRival(early.node) || !tr.peers.hasRival(late.node) {
		t.Errorf("%v: want the open connection alone", tr.peers.rivals)
	}
	tr.peers.forgetRival(&closable{node: late.node})
	if !tr.peers.hasRival(late.node) {
		t.Error("forgotten with another connection of its node")
	}
	tr.peers.forgetRival(late)
	if tr.peers.hasRival(late.node) {
		t.Error("remembered though it is closed")
	}
}
