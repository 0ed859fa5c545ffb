package gossip

import (
	"math"
	"time"

	"skep/grid"
)

// adapt is the state of the rule adaptive: it keeps the mean error of views at a target with the fewest messages. It
// is ours.
//
// A message is worth the error that it removes, times the duration of that error. A node accumulates the error of its
// own ad, as others know it, as a debt over time, and sends the ad when the debt reaches a price: a change that is
// reversed earlier is never sent, and a small change is sent after it has been wrong for long. If what was sent has
// stayed valid for long enough before, a change does not wait for the debt. News of other nodes is forwarded if the
// change times the time since the last forward of that node's ad reaches half of the price.
//
// Each node adapts one price for both: whenever a peer's direct answer shows how wrong its view entry was, the price
// moves against the difference to the target. Neighbours see similar errors, so their prices agree without
// communication.
//
// A node that receives an ad twice signals so once, by sending it back; both then leave that link out for this origin,
// so that its news travels over a tree. The link that brought an ad first is never left out by its receiver, so all
// still receive it; a node that receives nothing for long sends what it has, and a neighbour that knows better
// restores the link. The idea of such trees is from [7], which prunes and grafts by messages of its own.
type adapt struct {
	target float64 // of the error
	price  float64 // error-seconds

	debt  float64   // error-seconds of the own ad since it was last sent
	count grid.Time // time until which the debt is accumulated
	off   float64   // Delta of the own ad to what was last sent
	hold  float64   // seconds for which what this node sent stayed valid
	told  grid.Time // when it was last sent
	until float64   // Delta of the own ad from which what was sent is invalid; 0 = it is invalid already

	// By the slot of a peer: neighbours that have its news from others too, a bit each. Unused slots are chained.
	served []uint64
	spare  []uint16
}

// Bounds of a price, its first value, and the step of its logarithm for an answer that shows an error of twice the
// target, or none. The step is proportional to the error's excess over the target, however large: an entry is mostly
// right, or wrong by much, and if large errors counted less the price would settle where the mean error is far above
// the target.
const (
	cheapest, dearest = 0.05, 300.0
	firstPrice        = 2.0
	gain              = 0.02
	forwards          = 0.5 // of the price: a forwarder must not stop what the origin found worth sending
)

func newAdapt() *adapt { return &adapt{price: firstPrice, hold: 5 * firstPrice, target: defaultTarget} }

// adaptive makes the rule. Its parameter is the target; default defaultTarget.
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

// worthPassing reports whether another node's news has reached half of the price.
func (g *Gossip) worthPassing(now grid.Time, p *Peer) bool {
	return g.delta(p.sent, p.Ad)*now.Sub(p.sentAt).Seconds() >= forwards*g.rule.adapt.price
}

// owe accumulates the debt until now, at the previous error, and sets the new error.
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

// learn updates how long what was sent stayed valid: its logarithm, by a quarter.
func (a *adapt) learn(now grid.Time) {
	if a.until > 0 {
		a.hold *= math.Pow(min(max(now.Sub(a.told).Seconds(), 0.1), 3600)/a.hold, 0.25)
	}
	a.until = 0
}

// paid resets the debt when the own ad is sent.
func (a *adapt) paid(now grid.Time) {
	if a.off > 0 {
		a.learn(now)
		a.until, a.told = a.off/2, now
	}
	a.debt, a.off, a.count = 0, 0, now
}

// ready returns when the debt will reach the price; at once if experience says that the change is worth it.
func (a *adapt) ready() grid.Time {
	if a.off <= 0 {
		return grid.Never
	}
	if a.off*a.hold >= a.price {
		return a.count
	}
	return a.count.Add(grid.Seconds(min(max(a.price-a.debt, 0)/a.off, 1e6)))
}

// Found reports the error, as Delta, of a peer's view entry that a direct answer has shown. Calls must not be more
// frequent where the error is large: use polls, not news.
func (g *Gossip) Found(off float64) {
	if a := g.rule.adapt; a != nil {
		a.price = min(max(a.price*math.Exp(max(gain*(a.target-off)/a.target, -1)), cheapest), dearest)
	}
}

// Answered compares a peer's direct answer to a poll with its view entry.
func (g *Gossip) Answered(peer grid.NodeID, free grid.Resources, backlog time.Duration) {
	if g.rule.adapt == nil {
		return
	}
	if p := g.Peer(peer); p != nil && p.Ad != nil {
		d := share(int64(p.Ad.Free.CPU), int64(free.CPU), int64(p.Ad.Capacity.CPU))
		g.Found(min(max(d, math.Abs(squash(p.Ad.Backlog, g.cfg.BacklogScale)-squash(max(backlog, 0), g.cfg.BacklogScale))),
			1))
	}
}
