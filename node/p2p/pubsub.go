package p2p

import (
	"errors"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
	"skep/node/p2p/rpcguard"
)

const (
	heartbeat = 10 * time.Second
	maxIDs    = 512 // message IDs that a peer is asked for between two heartbeats
)

// announcedLimits bound what one origin announces, by kind; what is beyond is neither stepped nor passed on.
var announcedLimits = [grid.Kinds]limit{
	grid.KindCall:     {rate: 1, burst: 20},
	grid.KindBye:      {rate: 1, burst: 5},
	grid.KindTakeover: {rate: 10, burst: 100}, // 128 jobs in each
}

// gossipProtocols are the versions that are spoken. Not 1.3, whose extensions nobody here uses, not 1.0 and floodsub, which have less.
var gossipProtocols = []protocol.ID{pubsub.GossipSubID_v12, pubsub.GossipSubID_v11}

// newPubSub starts gossipsub for one topic. Announcements are rare and own ones go to all peers at once, so the mesh needs little care: a slow
// heartbeat keeps an idle node idle. What peers may have kept here is bounded: see DESIGN.md.
func newPubSub(d *Driver, topic string) (*pubsub.PubSub, error) {
	params := pubsub.DefaultGossipSubParams()
	params.HeartbeatInterval = heartbeat
	params.FanoutTTL = 6 * heartbeat
	params.IWantFollowupTime = heartbeat
	params.MaxIHaveLength = maxIDs
	params.MaxIDontWantMessages = 16
	params.PrunePeers, params.Connectors = 0, 0 // nobody is dialled because a peer says so
	guard := rpcguard.New(func(p peer.ID, err error) { d.badRPC(p, err) })
	return pubsub.NewGossipSub(d.ctx, guard.Host(d.host),
		pubsub.WithGossipSubProtocols(gossipProtocols, pubsub.GossipSubDefaultFeatures),
		pubsub.WithGossipSubParams(params),
		pubsub.WithSubscriptionFilter(pubsub.WrapLimitSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(topic), rpcguard.MaxSubscriptions)),
		pubsub.WithFloodPublish(true),
		pubsub.WithMaxMessageSize(rpcguard.MaxFrame), // with its envelope
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
		pubsub.WithValidateWorkers(1))
}

// badRPC counts what the guard has refused.
func (d *Driver) badRPC(p peer.ID, err error) {
	n, ok := nodeOf(p)
	switch {
	case !ok:
	case errors.Is(err, rpcguard.ErrMalformed):
		d.offend(n, "malformed", 1)
	case errors.Is(err, rpcguard.ErrExchange):
		d.offend(n, "peer exchange", 4)
	default:
		d.offend(n, "size", 4)
	}
}

// meshTag is by which pubsub keeps the connections of its mesh. It forgets to take the tag from those that are gone.
func meshTag(topic string) string { return "pubsub:" + topic }
