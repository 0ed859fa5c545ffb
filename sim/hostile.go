package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// Behaviour is what a hostile node does beyond the protocol, one or more of these together. It has keys of
// its own and no others: it signs what it likes of itself and can repeat what it heard, and no more.
type Behaviour uint8

// Behaviours.
const (
	// Liar says that it is a thousand cores, infinitely fast and idle, so that everybody sends it work; it
	// runs that as slowly as it is, and hands nothing back.
	Liar Behaviour = 1 << iota

	// Garbler says what cannot be: rates, speeds and times that are no numbers, negative or beyond all bounds.
	Garbler

	// Flooder sends ads, polls, searches and calls to everybody it is connected to, as fast as a driver lets them in.
	Flooder

	// Looper sends each search that comes by back and round again, as if it had just begun.
	Looper

	// Replayer says again what it said and heard before, old ads among it, and jumps back and far ahead with the
	// sequence of its own.
	Replayer

	// Hole takes whatever it is offered, says that it is idle and will be done at once, keeps its leases alive, and
	// never ends any of it.
	Hole

	// Glutton claims that a million tasks of its first class are submitted to it each second, and as many of classes
	// that it makes up.
	Glutton
)

// Behaviours lists the names of behaviours.
func Behaviours() []string {
	return []string{"liar", "garbler", "flooder", "looper", "replayer", "hole", "glutton"}
}

// ParseBehaviour reads a name of Behaviours.
func ParseBehaviour(name string) (Behaviour, error) {
	if k := slices.Index(Behaviours(), name); k >= 0 {
		return 1 << k, nil
	}
	return 0, fmt.Errorf("%.40q: want one of %s", name, strings.Join(Behaviours(), ", "))
}

// String names the behaviours.
func (b Behaviour) String() string {
	var names []string
	for k, name := range Behaviours() {
		if b&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Times of what hostile nodes do by themselves.
const (
	mischiefEvery = 50 * time.Millisecond
	replayKept    = 64
)

// timerMischief is far from those that nodes have.
const timerMischief = grid.TimerKind(255)

// hostile is a member that runs the real node and tampers with what it says. It shows no view: nobody measures
// how right one is that lies.
type hostile struct {
	Member
	does   Behaviour
	self   grid.NodeID
	rand   *grid.Rand
	peers  []grid.NodeID // connected, ordered
	ad     *grid.Ad      // its own, as last said
	false  *grid.Ad      // what it makes of that
	size   grid.Resources
	turns  uint64
	second grid.Time // in which loops were counted
	loops  int
	heard  []grid.Ad      // of others, a ring
	said   []grid.Message // a ring
}

// corrupt makes a node hostile.
func corrupt(m Member, does Behaviour, self grid.NodeID, seed uint64) *hostile {
	return &hostile{Member: m, does: does, self: self, rand: grid.NewRand(seed, 0x6d61)}
}

func (h *hostile) is(b Behaviour) bool { return h.does&b != 0 }

// Step lets the node take its step, and then does what it should not.
func (h *hostile) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	first := len(fx.Sends)
	switch {
	case ev.Kind == grid.EvWake && ev.Timer.Kind == timerMischief:
		h.mischief(fx)
		fx.Wake(now.Add(mischiefEvery), timerMischief, 0)
		return
	case ev.Kind == grid.EvStart && h.is(Flooder|Replayer):
		fx.Wake(now.Add(mischiefEvery), timerMischief, 0)
	case ev.Kind == grid.EvPeerUp:
		if at, ok := slices.BinarySearchFunc(h.peers, ev.Peer, grid.NodeID.Compare); !ok {
			h.peers = slices.Insert(h.peers, at, ev.Peer)
		}
	case ev.Kind == grid.EvPeerDown:
		if at, ok := slices.BinarySearchFunc(h.peers, ev.Peer, grid.NodeID.Compare); ok {
			h.peers = slices.Delete(h.peers, at, at+1)
		}
	case ev.Kind == grid.EvMessage && h.is(Looper) && ev.Msg.Kind == grid.KindFind:
		h.loop(now, &ev.Msg.Find, fx)
	case ev.Kind == grid.EvMessage && h.is(Replayer):
		h.listen(ev.Msg)
	}
	if ev.Kind == grid.EvEnded && h.is(Hole) && ev.Attempt.Task.Job.Origin != h.self {
		return // its node never hears of the end
	}
	h.Member.Step(now, ev, fx)
	for k := first; k < len(fx.Sends); k++ {
		h.tamper(&fx.Sends[k].Msg)
		if h.is(Replayer) {
			h.remember(&fx.Sends[k].Msg)
		}
	}
}

// tamper changes what the node says.
func (h *hostile) tamper(m *grid.Message) {
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil && ad.Node == h.self {
			m.Digest[k].Ad = h.claim(ad)
		}
	}
	switch {
	case h.is(Garbler):
		garbleMessage(m, h.rand)
	case h.is(Liar):
		boast(m)
	case h.is(Hole):
		beckon(m, h.size)
	}
	for _, rates := range [...]*[]grid.Rate{&m.Poll.Rates, &m.State.Rates} { // empty ones say that nothing is new
		if h.is(Glutton) && len(*rates) > 0 {
			*rates = gorge(*rates)
		}
	}
}

// claim is what it makes of its own ad.
func (h *hostile) claim(ad *grid.Ad) *grid.Ad {
	if h.ad == ad {
		return h.false
	}
	c := *ad
	c.Rates = slices.Clone(ad.Rates)
	if h.is(Liar) {
		boastAd(&c)
	}
	if h.is(Hole) {
		c.Free, c.Backlog = c.Capacity, 0
	}
	h.size = c.Capacity
	if h.is(Glutton) {
		c.Rates = gorge(c.Rates)
	}
	if h.is(Garbler) {
		garbleAd(&c, h.rand)
	}
	h.ad, h.false = ad, &c
	return h.false
}

// loopsEach is how many searches that it turns round a looper sends a peer in a second: what drivers let in.
const loopsEach = 200

// loop sends a search on as if it had just begun, also to where it came from.
func (h *hostile) loop(now grid.Time, f *grid.Find, fx *grid.Effects) {
	if now.Sub(h.second) >= time.Second {
		h.second, h.loops = now, 0
	}
	if h.loops++; h.loops > loopsEach {
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
