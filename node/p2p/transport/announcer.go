package transport

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/inbox"
	"skep/node/p2p/wire"
)

const (
	maxAnnounce    = 16 << 10 // bytes of an announcement; larger ones would be lost without an error
	announceBuffer = 256      // announcements waiting to be stepped, and to be published
	maxAnnouncers  = 1024     // origins whose rates are tracked
)

// announcer sends and receives announcements, the few messages for all nodes, over gossipsub.
type announcer struct {
	t           *Transport
	ps          *pubsub.PubSub
	topic       *pubsub.Topic
	sub         *pubsub.Subscription
	out         chan []byte
	unpublished sync.WaitGroup // of announcements in out

	mu     sync.Mutex
	meters *lru.Cache[grid.NodeID, *meter]
	codec  wire.Codec
}

func newAnnouncer(t *Transport) (*announcer, error) {
	meters, err := lru.New[grid.NodeID, *meter](maxAnnouncers)
	if err != nil {
		return nil, err
	}
	a := &announcer{t: t, out: make(chan []byte, announceBuffer), meters: meters}
	name := "skep/" + identity.Derive(t.cfg.Secret, "announcements")
	ps, err := newPubSub(t, name)
	if err != nil {
		return nil, err
	}
	a.ps = ps
	if err := ps.RegisterTopicValidator(name, a.validate, pubsub.WithValidatorInline(true)); err != nil {
		return nil, err
	}
	if a.topic, err = ps.Join(name); err != nil {
		return nil, err
	}
	a.sub, err = a.topic.Subscribe(pubsub.WithBufferSize(announceBuffer))
	return a, err
}

// start receives the announcements of others and publishes this node's.
func (a *announcer) start() {
	a.t.work.Go(a.receive)
	a.t.work.Go(func() {
		for {
			select {
			case <-a.t.ctx.Done():
				return
			case body := <-a.out:
				if err := a.topic.Publish(a.t.ctx, body); err != nil {
					a.t.cfg.Drop("unsendable")
				}
				a.unpublished.Done()
			}
		}
	})
}

// validate decides whether an announcement is forwarded. pubsub has checked its signature.
func (a *announcer) validate(_ context.Context, from peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	if from == a.t.host.ID() {
		return pubsub.ValidationAccept
	}
	sender, ok1 := identity.Node(from)
	origin, ok2 := identity.Node(m.GetFrom())
	if !ok1 || !ok2 || len(m.Data) > maxAnnounce {
		a.t.cfg.Drop("size")
		return pubsub.ValidationReject
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kind, _ := wire.KindOf(m.Data)
	in := inbox.New()
	switch err := a.codec.Decode(m.Data, &in.Message, a.t.ads.opener(sender)); {
	case err != nil && wire.Reason(err) == "kind": // of a newer version: forwarding is left to others
		in.Free()
		a.t.cfg.Drop("kind")
		return pubsub.ValidationIgnore
	case err != nil:
		in.Free()
		a.t.Offend(sender, wire.Reason(err), 1)
		return pubsub.ValidationReject
	case kind != grid.KindCall && kind != grid.KindBye && kind != grid.KindTakeover:
		in.Free()
		a.t.Offend(sender, "misplaced", 1)
		return pubsub.ValidationReject
	case !a.meter(origin).bounded(kind, announcedLimits[kind]).Allow():
		in.Free()
		a.t.cfg.Drop("rate")
		return pubsub.ValidationIgnore
	}
	in.Event.Kind, in.Event.Peer, in.Event.Msg = grid.EvAnnounce, origin, &in.Message
	m.ValidatorData = in
	return pubsub.ValidationAccept
}

func (a *announcer) meter(n grid.NodeID) *meter {
	m, ok := a.meters.Get(n)
	if !ok {
		m = new(meter)
		a.meters.Add(n, m)
	}
	return m
}

// receive drains the subscription: pubsub drops what does not fit in its buffer.
func (a *announcer) receive() {
	for {
		m, err := a.sub.Next(a.t.ctx)
		if err != nil {
			return
		}
		in, ok := m.ValidatorData.(*inbox.Input)
		if !ok {
			continue // this node's own
		}
		kind := in.Message.Kind
		a.t.counts.Received[kind].Add(1)
		a.t.counts.ReceivedBytes[kind].Add(uint64(len(m.Data)))
		if a.t.cfg.Inbox.Post(a.t.ctx, in) != nil {
			return
		}
	}
}

// publish queues an encoded announcement.
func (a *announcer) publish(k grid.Kind, body []byte) {
	a.unpublished.Add(1)
	select {
	case a.out <- body:
		a.t.counts.Sent[k].Add(1)
		a.t.counts.SentBytes[k].Add(uint64(len(body)))
	default:
		a.unpublished.Done()
		a.t.cfg.Drop("queue full")
	}
}

// flushDelay is the time for the last announcements to reach the peers' streams before these close: pubsub does not
// report it.
const flushDelay = 100 * time.Millisecond

// flush waits until the last announcements have gone out.
func (a *announcer) flush(ctx context.Context) {
	a.unpublished.Wait()
	if len(a.topic.ListPeers()) == 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(flushDelay):
	}
}
