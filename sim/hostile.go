package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim/keeper"
)

// Behaviour is how a hostile node violates the protocol, a set of bits. It has its own keys only: it can sign anything
// about itself and repeat what it received.
type Behaviour uint8

// Behaviours.
const (
	// Liar claims a thousand cores, infinitely fast and idle, so that everybody sends it work; it runs that at its
	// real speed and hands nothing back.
	Liar Behaviour = 1 << iota

	// Garbler sends impossible values: rates, speeds and times that are NaN, negative or out of bounds.
	Garbler

	// Flooder sends ads, polls, searches and calls to every connected node, as fast as a driver admits them.
	Flooder

	// Looper sends each search that it receives back and to others, as if it had just begun.
	Looper

	// Replayer repeats messages that it sent and received, old ads among them, and sends its own ad with random
	// sequence numbers.
	Replayer

	// Hole accepts every offer, claims to be idle and done at once, sends beats, and never ends an attempt.
	Hole

	// Glutton claims that a million tasks of its first class are submitted to it each second, and as many of invented
	// classes.
	Glutton

	// Forger keeps jobs of others and lies about them: see package keeper.
	Forger
)

// Behaviours lists the names of behaviours.
func Behaviours() []string {
	return []string{"liar", "garbler", "flooder", "looper", "replayer", "hole", "glutton", "forger"}
}

// ParseBehaviour parses a name of Behaviours.
func ParseBehaviour(name string) (Behaviour, error) {
	if k := slices.Index(Behaviours(), name); k >= 0 {
		return 1 << k, nil
	}
	return 0, fmt.Errorf("%.40q: want one of %s", name, strings.Join(Behaviours(), ", "))
}

// String returns the names of the behaviours.
func (b Behaviour) String() string {
	var names []string
	for k, name := range Behaviours() {
		if b&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Period of what hostile nodes do by themselves, and the number of messages and of ads that a replayer keeps.
const (
	misbehaveEvery = 50 * time.Millisecond
	replayBuffer   = 64
)

// timerHostile is a timer kind that no node uses.
const timerHostile = grid.TimerKind(255)

// hostile is a member that runs the real node and changes what it sends. It has no optional views: nobody measures how
// accurate those of a hostile node are.
type hostile struct {
	Member
	behaviour  Behaviour
	self       grid.NodeID
	rand       *grid.Rand
	peers      []grid.NodeID // connected, sorted
	ownAd      *grid.Ad      // as the node last sent it
	forgedAd   *grid.Ad      // made from ownAd
	capacity   grid.Resources
	ticks      uint64
	loopSecond grid.Time // second in which loops were counted
	loops      int
	heardAds   []grid.Ad      // of other nodes, a random sample
	sent       []grid.Message // a random sample
	keeper     *keeper.Keeper // of a forger
}

func newHostile(m Member, does Behaviour, c *node.Config) *hostile {
	h := &hostile{Member: m, behaviour: does, self: c.Self, rand: grid.NewRand(c.Seed, 0x6d61)}
	h.keeper = keeper.New(c.Self, c.Signer, h.rand)
	return h
}

func (h *hostile) has(b Behaviour) bool { return h.behaviour&b != 0 }

// Step lets the node take its step and changes the effects.
func (h *hostile) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	first := len(fx.Sends)
	switch {
	case ev.Kind == grid.EvWake && ev.Timer.Kind == timerHostile:
		h.misbehave(fx)
		fx.Wake(now.Add(misbehaveEvery), timerHostile, 0)
		return
	case ev.Kind == grid.EvStart && h.has(Flooder|Replayer|Forger):
		fx.Wake(now.Add(misbehaveEvery), timerHostile, 0)
	case ev.Kind == grid.EvPeerUp:
		if at, ok := slices.BinarySearchFunc(h.peers, ev.Peer, grid.NodeID.Compare); !ok {
			h.peers = slices.Insert(h.peers, at, ev.Peer)
		}
	case ev.Kind == grid.EvPeerDown:
		if at, ok := slices.BinarySearchFunc(h.peers, ev.Peer, grid.NodeID.Compare); ok {
			h.peers = slices.Delete(h.peers, at, at+1)
		}
	case ev.Kind == grid.EvMessage && h.has(Looper) && ev.Msg.Kind == grid.KindFind:
		h.loopSearch(now, &ev.Msg.Find, fx)
	case ev.Kind == grid.EvMessage && h.has(Replayer):
		h.recordAds(ev.Msg)
	}
	if ev.Kind == grid.EvMessage && h.has(Forger) {
		if h.keeper.Hear(ev.Peer, ev.Msg); ev.Msg.Kind == grid.KindCampaign {
			h.keeper.Vote(ev.Peer, &ev.Msg.Register, fx)
		}
	}
	if ev.Kind == grid.EvEnded && h.has(Hole) && ev.Attempt.Task.Job.Origin != h.self {
		return // its node is never told of the end
	}
	h.Member.Step(now, ev, fx)
	for k := first; k < len(fx.Sends); k++ {
		h.tamper(&fx.Sends[k].Msg)
		if h.has(Forger) {
			h.keeper.Tamper(&fx.Sends[k].Msg)
		}
		if h.has(Replayer) {
			h.recordSent(&fx.Sends[k].Msg)
		}
	}
}

// tamper changes a message of the node.
func (h *hostile) tamper(m *grid.Message) {
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil && ad.Node == h.self {
			m.Digest[k].Ad = h.forgeAd(ad)
		}
	}
	switch {
	case h.has(Garbler):
		garbleMessage(m, h.rand)
	case h.has(Liar):
		exaggerate(m)
	case h.has(Hole):
		claimIdle(m, h.capacity)
	}
	for _, rates := range [...]*[]grid.Rate{&m.Poll.Rates, &m.State.Rates} { // empty ones mean that nothing changed
		if h.has(Glutton) && len(*rates) > 0 {
			*rates = inflateRates(*rates)
		}
	}
}

// forgeAd returns what it sends instead of its own ad.
func (h *hostile) forgeAd(ad *grid.Ad) *grid.Ad {
	if h.ownAd == ad {
		return h.forgedAd
	}
	c := *ad
	c.Rates = slices.Clone(ad.Rates)
	if h.has(Liar) {
		exaggerateAd(&c)
	}
	if h.has(Hole) {
		c.Free, c.Backlog = c.Capacity, 0
		c.Sharing.Least = grid.MinLeastSpeed // that what it swallows be waited for
	}
	h.capacity = c.Capacity
	if h.has(Glutton) {
		c.Rates = inflateRates(c.Rates)
	}
	if h.has(Garbler) {
		garbleAd(&c, h.rand)
	}
	h.ownAd, h.forgedAd = ad, &c
	return h.forgedAd
}

// maxLoops is how many looped searches a looper sends a second: what drivers admit.
const maxLoops = 200

// loopSearch sends a search on as if it had just begun, also to the node that it came from.
func (h *hostile) loopSearch(now grid.Time, f *grid.Find, fx *grid.Effects) {
	if now.Sub(h.loopSecond) >= time.Second {
		h.loopSecond, h.loops = now, 0
	}
	if h.loops++; h.loops > maxLoops {
		return
	}
	for _, to := range h.peers {
		if to == f.Asker {
			continue
		}
		g := &fx.Send(to, grid.KindFind).Find
		g.ID, g.Asker, g.Engine, g.Left, g.Within = f.ID, f.Asker, f.Engine, grid.MaxHops, time.Hour
		g.Needs = f.Needs
		g.Needs.Labels = copyLabels(f.Needs.Labels)
	}
}
