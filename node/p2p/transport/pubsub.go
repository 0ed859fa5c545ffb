package transport

import (
	"errors"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/rpcguard"
)

const (
	heartbeat = 10 * time.Second
	maxIDs    = 512 // message IDs that a peer is asked for between two heartbeats
)

// announcedLimits bound the announcements of one origin, by kind; those beyond it are neither stepped nor
// forwarded.
var announcedLimits = [grid.Kinds]limit{
	grid.KindCall:     {rate: 1, burst: 20},
	grid.KindBye:      {rate: 1, burst: 5},
	grid.KindTakeover: {rate: 10, burst: 100}, // of 128 jobs each
}

// gossipProtocols are the versions spoken. Not 1.3, whose extensions are not used; not 1.0 and floodsub, which lack
// features.
var gossipProtocols = []protocol.ID{pubsub.GossipSubID_v12, pubsub.GossipSubID_v11}

// newPubSub starts gossipsub for one topic. Announcements are rare and own ones are flooded to all peers, so the
// mesh needs little care: a slow heartbeat keeps an idle node idle. What peers can make it store is bounded: see
// DESIGN.md.
func newPubSub(t *Transport, topic string) (*pubsub.PubSub, error) {
	params := pubsub.DefaultGossipSubParams()
	params.HeartbeatInterval = heartbeat
	params.FanoutTTL = 6 * heartbeat
	params.IWantFollowupTime = heartbeat
	params.MaxIHaveLength = maxIDs
	params.MaxIDontWantMessages = 16
	params.PrunePeers, params.Connectors = 0, 0 // no dials on behalf of peers
	guard := rpcguard.New(func(p peer.ID, err error) { t.badRPC(p, err) })
	return pubsub.NewGossipSub(t.ctx, guard.Host(t.host),
		pubsub.WithGossipSubProtocols(gossipProtocols, pubsub.GossipSubDefaultFeatures),
		pubsub.WithGossipSubParams(params),
		pubsub.WithSubscriptionFilter(pubsub.WrapLimitSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(topic),
			rpcguard.MaxSubscriptions)),
		pubsub.WithFloodPublish(true),
		pubsub.WithMaxMessageSize(rpcguard.MaxFrame), // including the envelope
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
		pubsub.WithValidateWorkers(1))
}

// badRPC counts an RPC that rpcguard has refused.
func (t *Transport) badRPC(p peer.ID, err error) {
	n, ok := identity.Node(p)
	switch {
	case !ok:
	case errors.Is(err, rpcguard.ErrMalformed):
		t.Offend(n, "malformed", 1)
	case errors.Is(err, rpcguard.ErrExchange):
		t.Offend(n, "peer exchange", 4)
	default:
		t.Offend(n, "size", 4)
	}
}

// meshTag returns the tag by which pubsub protects the connections of its mesh. It does not remove the tag from
// peers that are gone.
func meshTag(topic string) string { return "pubsub:" + topic }
