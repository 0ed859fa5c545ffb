package joblist

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node"
	"skep/node/listing"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

// Protocol is the protocol of streams of jobs. The request is a query of wire.JobQuerySize bytes; the answer is a
// status and, with wire.StatusOK, a length of 4 bytes and as many bytes of rows.
const Protocol = "/skep/jobs/1"

// Bounds of a question, and of what is answered.
const (
	maxAsked   = 512             // nodes of a question
	maxAtOnce  = 256             // of them at a time
	answerTime = time.Second     // for one that is connected
	askTime    = 2 * time.Second // for all, and for one that has to be dialled first

	askAgain = time.Second / 10 // after which a busy node is asked again

	perPeer  = 8
	allPeers = 64
	cooldown = time.Second / 2
)

// Peers are the other nodes.
type Peers interface {
	Connected() []grid.NodeID
	IsConnected(n grid.NodeID) bool
	Dialable(n grid.NodeID) bool // whether it is worth dialling a node that is not connected
	Open(ctx context.Context, n grid.NodeID, protocol string) (network.Stream, error)
	Offend(n grid.NodeID, reason string, weight int)
}

// Lists tells other nodes of the jobs of this one, and asks them for theirs. Its methods are safe for concurrent use.
type Lists struct {
	self  grid.NodeID
	read  Reader
	peers Peers
	kept  snapshot
}

// New returns the lists of a node.
func New(self grid.NodeID, read Reader, peers Peers) *Lists {
	return &Lists{self: self, read: read, peers: peers, kept: snapshot{read: read, wall: time.Now}}
}

// Service returns the service that tells other nodes of this node's jobs.
func (l *Lists) Service(ctx context.Context) transport.Service {
	return transport.Service{Protocol: Protocol, Request: wire.JobQuerySize, PerPeer: perPeer, All: allPeers,
		Inbound: 2 * perPeer, Cooldown: cooldown,
		Serve: func(from grid.NodeID, st network.Stream, request []byte, w io.Writer) {
			l.serve(ctx, from, st, request, w)
		}}
}

func (l *Lists) serve(ctx context.Context, from grid.NodeID, st network.Stream, request []byte, w io.Writer) {
	q, err := wire.ReadJobQuery(request)
	if err != nil {
		l.peers.Offend(from, "request", 1)
		st.Reset()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	rows, more, err := l.kept.get(ctx)
	if err != nil {
		st.Reset()
		return
	}
	some, more := selected(rows, more, &q)
	b, err := wire.AppendJobRows([]byte{wire.StatusOK, 0, 0, 0, 0}, some, more)
	if err != nil {
		st.Reset()
		return
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-5))
	w.Write(b)
}

// Result is a list of jobs, and which nodes were asked for it.
type Result struct {
	Jobs   []listing.Entry
	More   bool          // there are older ones
	Asked  int           // other nodes
	Silent []grid.NodeID // of Asked, those that did not answer in time, or are of a version that cannot
}

// List returns the jobs of the grid that a query selects, newest first. It takes at most 2 seconds. An error is one of
// this node's.
func (l *Lists) List(ctx context.Context, q *listing.Query) (*Result, error) {
	request, err := wire.JobQueryRequest(q)
	if err != nil {
		return nil, err
	}
	own, more, err := l.Own(ctx, q)
	if err != nil {
		return nil, err
	}
	answers := []listing.Answer{{By: l.self, Rows: own, More: more}}
	r := new(Result)
	if q.Submitter == (grid.Submitter{}) { // others cannot know who submitted something here
		nodes, names, err := l.targets(ctx)
		if err != nil {
			return nil, err
		}
		told, silent := l.ask(ctx, nodes, &question{request, q.Limit})
		answers, r.Asked, r.Silent = append(answers, told...), len(nodes), silent
		defer r.name(names)
	}
	r.Jobs, r.More = listing.Merge(q, l.self, answers)
	return r, ctx.Err()
}

// Own returns the jobs that this node keeps, the newest up to the query's limit.
func (l *Lists) Own(ctx context.Context, q *listing.Query) (rows []listing.Row, more bool, err error) {
	all, older, err := readRows(ctx, l.read, maxKept)
	if err != nil {
		return nil, false, err
	}
	rows, more = selected(all, older, q)
	return rows, more, nil
}

// name sets the names of origins that this node knows.
func (r *Result) name(names map[grid.NodeID]string) {
	for i := range r.Jobs {
		if name := names[r.Jobs[i].ID.Origin]; name != "" {
			r.Jobs[i].OriginName = name
		}
	}
}

// targets returns the nodes to ask, connected ones first, and the names of all that are known.
func (l *Lists) targets(ctx context.Context) (nodes []grid.NodeID, names map[grid.NodeID]string, err error) {
	nodes, names = l.peers.Connected(), map[grid.NodeID]string{}
	var others []grid.NodeID
	err = l.read(ctx, func(n *node.Node, now grid.Time) {
		if n == nil {
			return
		}
		for _, p := range n.Peers(now, nil) {
			names[p.Ad.Node] = p.Ad.Name
			if !p.Self && !p.Connected && !p.Ad.Leaving {
				others = append(others, p.Ad.Node)
			}
		}
	})
	for _, n := range others {
		if !slices.Contains(nodes, n) && l.peers.Dialable(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes[:min(len(nodes), maxAsked)], names, err
}
