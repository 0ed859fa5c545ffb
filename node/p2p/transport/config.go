package transport

import (
	"crypto/ed25519"
	"io"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/inbox"
)

// Config is what a transport needs. All fields must be set but where they say otherwise.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // how many times the node has started
	Instance uint64 // drawn at random at this start
	Key      ed25519.PrivateKey
	Secret   [32]byte
	Version  string // of this build, told to peers; may be empty

	// Control is the protocol of control streams; "" = that of this version. Another one is for tests.
	Control protocol.ID

	Listen []string      // TCP multiaddresses
	Allow  []grid.NodeID // the only nodes to talk to; nil: all members of the network

	Services  []Service
	Contacts  Contacts
	Addrs     Addrs
	Instances Instances // nil: none is looked for

	Generations Generations // nil: none are kept

	// Credentials say who is a member and what it may do. nil: whoever has the secret is one, and may do all.
	Credentials Credentials

	Log     *slog.Logger
	Inbox   *inbox.Inbox // of the loop, for messages and for peers that come and go
	Members *Members     // of registers
	Drop    func(string) // counts what was not handled, by a reason of a fixed few
}

// Contacts are the nodes that are known, with their addresses. No method may block.
type Contacts interface {
	// Familiar reports whether a node has been known for long.
	Familiar(n grid.NodeID, at time.Time) bool
	// Dialable reports whether a node that is not connected is worth dialling; its addresses are then in the host's
	// peerstore.
	Dialable(n grid.NodeID) bool
	// Reporters returns who reported a node's addresses.
	Reporters(n grid.NodeID) []grid.NodeID

	Learn(n grid.NodeID, addrs []string, reporter grid.NodeID) // a node announces addresses, as reporter passed on
	Reported(n, reporter grid.NodeID)                          // the same once more, by another reporter

	SessionUp(n grid.NodeID)
	SessionDown(n grid.NodeID, wasUp bool) // wasUp: SessionUp was called
	RelayedConn(n grid.NodeID)             // a connection through a relay was made
}

// Credentials lets members in. No method but those of what Secure returns may block.
type Credentials interface {
	// Secure returns the security transport of the network, made of one that proves the keys of peers.
	Secure(sec.SecureTransport) sec.SecureTransport
	// Refuses returns why a message of a peer is not taken; "" = it is.
	Refuses(from grid.NodeID, m *grid.Message) (why string)
	// MayRelay reports whether a node, or this one, may relay for others.
	MayRelay(n grid.NodeID) bool
}

// allMayDoAll are the credentials of a network without certificates.
type allMayDoAll struct{}

func (allMayDoAll) Secure(t sec.SecureTransport) sec.SecureTransport { return t }

func (allMayDoAll) Refuses(grid.NodeID, *grid.Message) string { return "" }

func (allMayDoAll) MayRelay(grid.NodeID) bool { return true }

// Addrs decides at which addresses the host is dialled.
type Addrs interface {
	Merge(proposed []ma.Multiaddr) []ma.Multiaddr // from those that libp2p proposes
	Attach(host.Host)                             // called once, when the host is made
}

// Service is a protocol of which each stream has one request of fixed size and its answer.
type Service struct {
	Protocol protocol.ID
	Request  int // bytes

	// Bounds of streams that are served at a time, for one peer and all. One more gets "busy", or the place of a peer
	// that holds more. Inbound is how many of a peer may be open, with some reserve for those about to end.
	PerPeer, All, Inbound int

	// Outbound is how many to a peer may be open; 0 = outboundStreams. Where it is set, the bounds of a peer's streams of
	// all protocols are raised by Inbound and Outbound, and those of memory by Inbound streams.
	Outbound int

	Cooldown time.Duration // how long a stream counts after its answer
	Transfer bool          // an answer that breaks off has to be sent again: its connection is kept

	// Serve answers a request. It writes bytes that may be many to w, which waits for the peer as long as that keeps
	// taking them. The stream is closed afterwards.
	Serve func(from grid.NodeID, st network.Stream, request []byte, w io.Writer)

	// ServeLong serves in place of Serve where a stream may last as long as a task. It bounds such streams itself, with
	// Inbound well above that bound: when it admits one it calls freeSeat, after which the stream is taken away for no
	// other peer. If that returns false the seat was given away before, and the stream is being reset.
	ServeLong func(from grid.NodeID, st network.Stream, request []byte, w io.Writer, freeSeat func() bool)
}

// Bounds of a service with large answers.
const (
	ServesPerPeer = 32
	ServesAll     = 256
)
