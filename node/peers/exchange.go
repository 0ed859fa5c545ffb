package peers

import (
	"slices"

	"skep/grid"
	"skep/node/profile"
)

// Mutual information feedback [1]: a poll carries the asker's rates, and its answer the answerer's. Rates that the
// other node is known to have are left out.

// PublishRates has this node's rates as of now sent with polls and answers.
func (p *Peers) PublishRates(now grid.Time) { p.cfg.Rates.Publish(now) }

// Ask begins a poll of a peer for a level of a class; nil = it is not connected. One that does not know levels is asked
// for the class.
func (p *Peers) Ask(id grid.NodeID, level string, fx *grid.Effects) (m *grid.Message) {
	q := p.set.get(id)
	if q == nil || !q.up {
		return nil
	}
	m = fx.Send(id, grid.KindPoll)
	if m.Poll.Class = level; !q.can.has(knowsLevels) {
		m.Poll.Class, _ = grid.ClassOfLevel(level)
	}
	own, version := p.cfg.Rates.Published()
	met := q.told()
	m.Poll.Speed, m.Poll.Cores, m.Poll.Mine, m.Poll.Have = p.cfg.Speed, p.cfg.Cores, version, met.theirVersion
	if met.ourVersion != version {
		m.Poll.Rates = append(m.Poll.Rates, own...)
	}
	return m
}

// Asked takes the rates that came with a poll, and begins the answer; nil = the asker is not known.
func (p *Peers) Asked(now grid.Time, from grid.NodeID, poll *grid.Poll, fx *grid.Effects) *grid.State {
	q := p.set.get(from)
	if q == nil {
		return nil
	}
	p.exchangeRates(q, poll.Rates, poll.Speed, poll.Cores, poll.Mine, poll.Have)
	p.cfg.Rates.Publish(now)
	own, version := p.cfg.Rates.Published()
	s := &fx.Send(from, grid.KindState).State
	s.ID, s.Speed, s.Cores, s.Mine, s.Have = poll.ID, p.cfg.Speed, p.cfg.Cores, version, q.met.theirVersion
	if poll.Trades {
		s.Quote = p.price.Quote(now)
	}
	if q.met.ourVersion != version {
		s.Rates = append(s.Rates, own...)
	}
	return s
}

// Answered takes what came with an answer to a poll.
func (p *Peers) Answered(from grid.NodeID, s *grid.State) {
	q := p.set.get(from)
	p.cfg.Gossip.Answered(from, s.Free, s.Backlog)
	p.exchangeRates(q, s.Rates, s.Speed, s.Cores, s.Mine, s.Have)
	q.met.stamp = max(q.met.stamp, s.Stamp)
}

// Knows reports whether a peer is connected, or was until this step.
func (p *Peers) Knows(id grid.NodeID) bool { return p.set.get(id) != nil }

// Stamp returns the newest start lease stamp of a node, this one's is as of now; 0 = none.
func (p *Peers) Stamp(now grid.Time, id grid.NodeID) uint64 {
	if id == p.cfg.Self {
		return p.cfg.Worker.Stamp(now)
	}
	if q := p.set.get(id); q != nil {
		return q.told().stamp
	}
	return 0
}

// Stamped records a start lease stamp that a peer sent.
func (p *Peers) Stamped(id grid.NodeID, stamp uint64) {
	if q := p.set.get(id); q != nil {
		met := q.meet()
		met.stamp = max(met.stamp, stamp)
	}
}

// exchangeRates records the rates that came with a poll or an answer.
func (p *Peers) exchangeRates(q *peer, rates []grid.Rate, speed float64, cores grid.MilliCPU, mine, have uint64) {
	met := q.meet()
	met.ourVersion = have
	if !(speed > 0) || speed > 1e6 || cores < 0 || cores > grid.MaxMillis || mine == met.theirVersion {
		return
	}
	q.speed, q.cores = speed, int32(cores)
	if met.theirVersion == 0 && len(rates) == 0 {
		return // omitted by a peer that has not noticed our restart; it sends them once it sees which version we have
	}
	met.theirVersion = mine
	p.cfg.Policies.ColumnsChanged()
	if slices.Equal(q.rates, rates) {
		return
	}
	p.ownRates(q, len(rates))
	q.rates = q.rates[:0]
	for _, r := range rates {
		r.Class = p.cfg.Rates.Intern(r.Class)
		q.rates = append(q.rates, r)
	}
	if known := p.cfg.Gossip.Peer(q.id); known != nil && known.Ad != nil && slices.Equal(q.rates, known.Ad.Rates) {
		p.shareAdRates(q, known.Ad)
	}
}

// learnRates takes over an ad's rates unless the peer itself has sent newer ones.
func (p *Peers) learnRates(q *peer, ad *grid.Ad) {
	q.speed, q.cores = ad.Speed, int32(ad.Capacity.CPU)
	q.site = profile.SiteOf(ad.Labels, q.site)
	if q.told().theirVersion == 0 || slices.Equal(q.rates, ad.Rates) {
		p.shareAdRates(q, ad)
	}
}

// shareAdRates makes the peer's rates alias those of its ad, which is in memory anyway.
func (p *Peers) shareAdRates(q *peer, ad *grid.Ad) {
	if !q.can.has(borrowed) && cap(q.rates) > 0 {
		p.cfg.Scratch.lists = append(p.cfg.Scratch.lists, q.rates[:0])
	}
	q.rates, q.can = ad.Rates, q.can|borrowed
}

// ownRates gives a peer a rates buffer of its own, separate from its ad.
func (p *Peers) ownRates(q *peer, size int) {
	if !q.can.has(borrowed) && cap(q.rates) >= size {
		return
	}
	free := &p.cfg.Scratch.lists
	q.rates, q.can = nil, q.can&^borrowed
	if k := len(*free); k > 0 {
		q.rates, *free = (*free)[k-1], (*free)[:k-1]
	}
	if cap(q.rates) < size {
		q.rates = make([]grid.Rate, 0, size)
	}
}
