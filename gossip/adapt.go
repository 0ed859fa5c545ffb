package gossip

import (
	"math"
	"time"

	"skep/grid"
)

// adapt is the state of the rule adaptive: it keeps the error of what nodes know of each other at a target, for the
// least messages. It is ours.
//
// What a message is worth is the error that it takes away times how long. A node counts for its own ad the error
// that stands, as a debt that grows with time, and sends when the debt has come to a price: what changes and
// changes back before that is never told, and what is small is told when it has been wrong for long. Where what
// was told has held long enough before, it does not wait for the debt. News of others goes on if the change times
// the time since the last that this node handed on has come to half of the price.
//
// The price is one number for both, and each node steers its own: whenever a peer's own word shows how wrong its
// entry in the view was, the price moves against the difference to the target. Neighbours see like errors, so
// their prices agree without a word about them.
//
// Who hears an ad twice says so once, by sending it back; both then leave that link out for this origin, so that its
// news comes over a tree. The first to bring an ad is never left out by it, so all go on hearing; who hears
// nothing for long shows what he has, and whoever knows better takes the link back. The idea of such trees is [7]'s,
// which prunes and grafts by messages of their own.
type adapt struct {
	target float64 // of the error
	price  float64 // error-seconds

	debt  float64   // error-seconds of the own ad since it was sent last
	count grid.Time // until when the debt is counted
	off   float64   // Delta of the own ad to what was sent last
	hold  float64   // seconds that what was told of this node held
	told  grid.Time // when it was told last, and from which Delta on that holds no longer; 0 = it did not hold
	until float64

	// By the slot of a peer: neighbours that have its news from others too, a bit each. Unused slots are chained.
	served []uint64
	spare  []uint16
}

// Bounds of a price, its first value, and by how much its logarithm moves for an answer that shows an error of
// twice the target, or none at all. It moves in proportion to what the error is over the target, however large: an entry is
// mostly right, or wrong by much, and if large errors counted for less than they are the price would come to rest
// where the mean error is far above the target.
const (
	cheapest, dearest = 0.05, 300.0
	firstPrice        = 2.0
	gain              = 0.02
	forwards          = 0.5 // of the price: a forwarder must not stop what the origin found worth it
)

func newAdapt() *adapt { return &adapt{price: firstPrice, hold: 5 * firstPrice} }

// adaptive makes the rule. A parameter is the target; else it is Config.Target.
func adaptive(r *product, param string) (rule, error) {
	r.adapt = newAdapt()
	if param != "" {
		x, err := fraction(param)
		if err != nil {
			return nil, err
		}
		r.adapt.target = x
	}
	return func(g *Gossip, now grid.Time, p *Peer) float64 {
		return within(p.sent == nil || now.Sub(p.sentAt) >= g.cfg.Tmax-g.cfg.Refresh/2 || g.worthPassing(now, p))
	}, nil
}

// worthPassing reports whether news of another has come to half of the price.
func (g *Gossip) worthPassing(now grid.Time, p *Peer) bool {
	return g.delta(p.sent, p.Ad)*now.Sub(p.sentAt).Seconds() >= forwards*g.rule.adapt.price
}

// owe counts the debt until now, at the error that stood until now, and takes the new one.
func (a *adapt) owe(now grid.Time, off float64) {
	a.debt += a.off * max(now.Sub(a.count), 0).Seconds()
	if a.until > 0 && off >= a.until {
		a.learn(now)
	}
	a.off, a.count = off, now
	if off == 0 {
		a.debt = 0
	}
}

// learn takes how long what was told has held: its logarithm, by a quarter.
func (a *adapt) learn(now grid.Time) {
	if a.until > 0 {
		a.hold *= math.Pow(min(max(now.Sub(a.told).Seconds(), 0.1), 3600)/a.hold, 0.25)
	}
	a.until = 0
}

// paid is when the own ad was sent.
func (a *adapt) paid(now grid.Time) {
	if a.off > 0 {
		a.learn(now)
		a.until, a.told = a.off/2, now
	}
	a.debt, a.off, a.count = 0, 0, now
}

// ready is when the debt will have come to the price; at once if what is to be told is worth it by experience.
func (a *adapt) ready() grid.Time {
	if a.off <= 0 {
		return grid.Never
	}
	if a.off*a.hold >= a.price {
		return a.count
	}
	return a.count.Add(grid.Seconds(min(max(a.price-a.debt, 0)/a.off, 1e6)))
}

// Found says how far a direct answer of a peer shows its entry in the view to be wrong, as Delta. It must not be
// said oftener where the error is large: polls are good for it, news is not.
func (g *Gossip) Found(off float64) {
	if a := g.rule.adapt; a != nil {
		a.price = min(max(a.price*math.Exp(max(gain*(a.target-off)/a.target, -1)), cheapest), dearest)
	}
}

// Answered compares what a peer has just said of itself, in answer to a poll, with its entry in the view.
func (g *Gossip) Answered(peer grid.NodeID, free grid.Resources, backlog time.Duration) {
	if g.rule.adapt == nil {
		return
	}
	if p := g.Peer(peer); p != nil && p.Ad != nil {
		d := share(int64(p.Ad.Free.CPU), int64(free.CPU), int64(p.Ad.Capacity.CPU))
		g.Found(min(max(d, math.Abs(squash(p.Ad.Backlog, g.cfg.BacklogScale)-squash(max(backlog, 0), g.cfg.BacklogScale))), 1))
	}
}
