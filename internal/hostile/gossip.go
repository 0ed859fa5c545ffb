package hostile

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"google.golang.org/protobuf/proto"

	"skep/grid"
)

// Published is an announcement.
type Published = pb.Message

// RPC is the content of one frame of gossipsub.
type RPC struct {
	Subscribe, Unsubscribe []string            // topics
	Graft, Prune           []string            // topics
	Backoff                uint64              // seconds, of each prune
	Exchange               [][2]string         // identities and signed records in each PRUNE
	IHave                  map[string][]string // IDs by topic
	IWant, IDontWant       []string
	Publish                []*Published // as Announcement makes them
}

// Gossip is the member's side of a gossipsub stream.
type Gossip struct {
	st network.Stream
}

// Gossip opens a stream of gossipsub.
func (m *Member) Gossip(ctx context.Context, to grid.NodeID) (*Gossip, error) {
	st, err := m.Stream(ctx, to, pubsub.GossipSubID_v11)
	if err != nil {
		return nil, err
	}
	return &Gossip{st}, nil
}

// Frame sends bytes as one frame.
func (g *Gossip) Frame(body []byte) error { return writeFrame(g.st, body) }

// Stream returns the stream.
func (g *Gossip) Stream() network.Stream { return g.st }

// Send sends an RPC.
func (g *Gossip) Send(r *RPC) error {
	b, err := proto.Marshal(r.message())
	if err != nil {
		return err
	}
	return g.Frame(b)
}

func (r *RPC) message() *pb.RPC {
	p, c := &pb.RPC{Publish: r.Publish}, &pb.ControlMessage{}
	for i, list := range [][]string{r.Subscribe, r.Unsubscribe} {
		for _, name := range list {
			p.Subscriptions = append(p.Subscriptions, &pb.RPC_SubOpts{Topicid: &name, Subscribe: proto.Bool(i == 0)})
		}
	}
	for _, name := range r.Graft {
		c.Graft = append(c.Graft, &pb.ControlGraft{TopicID: &name})
	}
	for _, name := range r.Prune {
		x := &pb.ControlPrune{TopicID: &name, Backoff: &r.Backoff}
		for _, e := range r.Exchange {
			x.Peers = append(x.Peers, &pb.PeerInfo{PeerID: []byte(e[0]), SignedPeerRecord: []byte(e[1])})
		}
		c.Prune = append(c.Prune, x)
	}
	for topic, ids := range r.IHave {
		c.Ihave = append(c.Ihave, &pb.ControlIHave{TopicID: &topic, MessageIDs: ids})
	}
	if len(r.IWant) > 0 {
		c.Iwant = []*pb.ControlIWant{{MessageIDs: r.IWant}}
	}
	if len(r.IDontWant) > 0 {
		c.Idontwant = []*pb.ControlIDontWant{{MessageIDs: r.IDontWant}}
	}
	if proto.Size(c) > 0 {
		p.Control = c
	}
	return p
}

var announced atomic.Uint64

// Announcement signs data as an announcement of the member's own, on its network's topic.
func (m *Member) Announcement(data []byte) (*Published, error) {
	topic := m.Topic()
	a := &Published{From: []byte(m.host.ID()), Data: data, Topic: &topic, Seqno: binary.BigEndian.AppendUint64(nil,
		announced.Add(1))}
	return a, m.Sign(a)
}

// Sign signs a changed announcement.
func (m *Member) Sign(a *Published) error {
	priv, err := crypto.UnmarshalEd25519PrivateKey(m.key)
	if err != nil {
		return err
	}
	a.Signature, a.Key = nil, nil
	b, err := proto.Marshal(a)
	if err != nil {
		return err
	}
	a.Signature, err = priv.Sign(append([]byte(pubsub.SignPrefix), b...))
	return err
}
