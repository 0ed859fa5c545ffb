package peers

import (
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// Need is what a task asks of the node that it is offered to.
type Need struct {
	Spec    *grid.JobSpec
	Class   string
	Level   string // of the class: see grid.LevelOf
	Foreign bool   // it was submitted elsewhere

	Limit float64 // seconds from now within which a result is worth something; 0 = none

	Strict      bool // nodes that back off are left out
	Delivered   bool // only nodes that have delivered
	Blacklisted bool // the blacklist is not heeded
	Fetch       bool // the time to fetch the inputs is wanted
	Trades      bool // what this node asks is wanted
	Excluded    Excluded

	Held map[grid.NodeID]grid.Resources // of a gang: what it has at nodes, which counts as free; only looked up
}

// Excluded are the nodes that a task must not be offered to.
type Excluded interface {
	Excludes(id grid.NodeID, strict bool) bool
}

// Eligible appends the nodes that fit a task, this node and the connected ones, ordered by identity, and when each is
// expected to be done with it; and how many were left out because they are on probation or backing off.
func (p *Peers) Eligible(now grid.Time, n *Need, dst []balance.State) (fit []balance.State, onProbation int) {
	spec, expected, floor := n.Spec, p.Expected(n.Level), p.cfg.Rates.MinRunTime(n.Level, p.statedRates)
	blacklist, typical := p.failures.Blacklist(n.Class), p.levelRate(n.Level)
	for _, m := range p.connected() {
		q, g := m.peer, m.view
		if !m.mayRun(spec) || n.Excluded.Excludes(q.id, n.Strict) || !n.Blacklisted && blacklist.Excludes(now, q.id) {
			continue
		}
		s := m.record
		if n.Delivered && !s.Delivered() {
			continue
		}
		if s.OnProbation(now, grid.MilliCPU(q.cores)) || n.Strict && s.BackingOff(now) {
			onProbation++
			continue
		}
		b := p.stated(now, m, spec, n.Level, typical, n.Limit)
		dst = append(dst, balance.State{Node: q.id, Ready: b.ready, RTT: g.RTT, Site: q.site, Heard: g.Fresh(),
			Quote: grid.Quote{Price: g.Ad.Price, Outbid: g.Ad.Outbid}, Option: b.option,
			ECT:  s.CompletionTime(now, b.ect, expected/b.speedup, floor/b.speedup),
			Most: atOnce(g.Ad.Capacity, b.Counts),
			Ways: b.waysAt(spec, g.Ad.Capacity, func(ect, speedup float64) float64 {
				return s.CompletionTime(now, ect, expected/speedup, floor/speedup)
			})})
		if n.Fetch {
			dst[len(dst)-1].Fetch = p.fetchTime(now, q.id, spec)
		}
	}
	if p.mayStay(now, n) {
		at, _ := slices.BinarySearchFunc(dst, p.cfg.Self,
			func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
		own := p.ownState(now, spec, n.Level, n.Limit)
		if n.Trades {
			own.Quote = p.price.Quote(now)
		}
		dst = slices.Insert(dst, at, own)
	}
	return dst, onProbation
}

// mayStay reports whether a task fits this node.
func (p *Peers) mayStay(now grid.Time, n *Need) bool {
	spec := n.Spec
	return !(n.Foreign && p.cfg.Private) && !n.Excluded.Excludes(p.cfg.Self, n.Strict) &&
		(n.Blacklisted || !p.Excludes(now, n.Class, p.cfg.Self)) &&
		discovery.Fit(&spec.Needs, spec.Engine, p.cfg.Gossip.Ad()) == grid.WhyNone &&
		p.AcceptsNow(spec).Why == grid.WhyNone && p.takes(spec)
}

// takes reports whether the ledger here accepts a task in one of the ways in which it can run.
func (p *Peers) takes(spec *grid.JobSpec) bool {
	for k := range waysOf(spec) {
		if w, fits := wayOf(spec, k, p.ownAd()); fits && p.cfg.Exec.Refuses(w.Resources) == grid.WhyNone {
			return true
		}
	}
	return false
}

// ownState is this node's own answer to a poll.
func (p *Peers) ownState(now grid.Time, spec *grid.JobSpec, level string, limit float64) balance.State {
	here, b := p.cfg.Exec, p.ownBest(now, spec, level, limit)
	ran, rest := here.Ahead(now, spec.Bid(), b.Resources, p.RunTime)
	return balance.State{Node: p.cfg.Self, ECT: b.ect, Ready: b.ready, Heard: now, Option: b.option,
		Answer: true, Site: p.Home(), Waiting: int32(here.Waiting()), Running: int32(len(here.Running())), Ran: ran,
		Rest: rest, Whole: !p.cfg.Balance.Rest, Most: atOnce(here.Capacity(), b.Counts),
		Ways: b.waysAt(spec, here.Capacity(), func(ect, _ float64) float64 { return ect })}
}

// mayRun reports whether a peer takes work and fits a task.
func (m *connectedPeer) mayRun(spec *grid.JobSpec) bool {
	ad := m.view.Ad
	return ad != nil && m.can.has(takesWork) &&
		(m.can.has(hidesJobs) || spec.Access() != grid.AccessOwner) && !ad.Closed() &&
		discovery.Suits(spec, ad) == grid.WhyNone
}

// runTimeAt is the time in seconds that a peer without a backlog needs for a task that runs in a way, moving it
// included; typical as in rateOf.
func (p *Peers) runTimeAt(m connectedPeer, spec *grid.JobSpec, level string, typical float64, w way) float64 {
	speed := p.speedOf(m, spec.Bid(), w.CPU) * w.speedup
	return 1/(p.rateOf(m.peer, level, typical)*speed) + p.cfg.Rates.Overhead(m.view.RTT, inputBytes(spec))
}

// Answer is a peer's answer to a poll for a task, as far as it is believed.
func (p *Peers) Answer(now grid.Time, from grid.NodeID, level string, spec *grid.JobSpec, limit float64,
	s *grid.State, rtt time.Duration) balance.State {
	b := p.answered(now, from, spec, level, limit, s)
	move, expected, floor := p.cfg.Rates.Overhead(rtt, inputBytes(spec)), p.Expected(level),
		p.cfg.Rates.MinRunTime(level, p.statedRates)
	believed := func(ect, speedup float64) float64 {
		return p.records.Of(from).CompletionTime(now, ect+move, expected/speedup, floor/speedup)
	}
	return balance.State{Node: from, ECT: believed(b.ect, b.speedup), Ready: b.ready, RTT: rtt, Heard: now,
		Option: b.option, Answer: true, Site: p.set.get(from).site,
		Waiting: s.Waiting, Running: s.Running, Ran: s.Ran.Seconds(), Rest: s.Rest.Seconds(), Whole: !p.cfg.Balance.Rest,
		Quote: s.Quote,
		Fetch: p.fetchTime(now, from, spec), Most: p.mostAt(from, b.Counts),
		Ways: b.waysAt(spec, p.Capacity(from), believed)}
}

// Capacity is what a node has in all, by its ad; nothing of one that is not in the view.
func (p *Peers) Capacity(id grid.NodeID) grid.Resources {
	if id == p.cfg.Self {
		return p.cfg.Exec.Capacity()
	}
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return g.Ad.Capacity
	}
	return grid.Resources{}
}

// BackingOff reports whether a node is used only if no other is left, for now.
func (p *Peers) BackingOff(now grid.Time, id grid.NodeID) bool {
	return p.records.Of(id).BackingOff(now)
}

// OnProbation reports whether a node gets no further task now: it must deliver first, or is not known.
func (p *Peers) OnProbation(now grid.Time, id grid.NodeID) bool {
	q := p.get(id)
	return q == nil || p.records.Of(id).OnProbation(now, grid.MilliCPU(q.cores))
}

// TakesWork reports whether a peer is connected and understands what a worker needs.
func (p *Peers) TakesWork(id grid.NodeID) bool {
	q := p.set.get(id)
	return q != nil && q.up && q.can.has(takesWork)
}

// RTT is the round trip to a node; 0 = it is not known.
func (p *Peers) RTT(id grid.NodeID) time.Duration {
	if g := p.cfg.Gossip.Peer(id); g != nil {
		return g.RTT
	}
	return 0
}

// RunTimeAt is the time in seconds in which a connected node would be done with a task, moving it included; false = it
// does not fit, or must not get it now.
func (p *Peers) RunTimeAt(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string) (float64, bool) {
	class, _ := grid.ClassOfLevel(level)
	m := connectedPeer{p.set.get(id), p.cfg.Gossip.Peer(id), p.records.Of(id)}
	if m.peer == nil || !m.up || m.view == nil || !m.mayRun(spec) || p.Excludes(now, class, id) ||
		m.record.OnProbation(now, grid.MilliCPU(m.peer.cores)) {
		return 0, false
	}
	b := p.stated(now, m, spec, level, p.levelRate(level), 0)
	return b.ect - b.ready, true
}

// CouldWin reports whether a node that has not answered a poll could be done with a task before a time, in seconds from
// now. It could if its answer is expected soon, whatever it says: only a far one is not waited for in vain.
func (p *Peers) CouldWin(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string, sent grid.Time,
	best float64) bool {
	left := (p.RTT(id) - now.Sub(sent)).Seconds()
	if p.cfg.RatesGiven || left < max(minFar, best*farShare) {
		return true
	}
	there, known := p.RunTimeAt(now, id, spec, level)
	return !known || left+there < best
}

const (
	minFar   = 0.01 // seconds that an answer takes from far away
	farShare = 0.1  // of the best answer's completion time
)
