package marketplace

import (
	"skep/balance/market"
)

// matcher is the market of all tasks, or of one owner's, and what it has sent on its way since a server's last news.
type matcher struct {
	book    *market.Market
	p       market.Protocol
	offers  []*market.Offer
	known   []news
	flights [][]flight // by server
	matches []market.Match

	lastNews bool // as in Readings
	counts   bool // tasks at a server and on the way there: it may have several of them, or those of others
}

// flight is a task that a server was given and that its news do not know of.
type flight struct {
	id   uint64
	bid  float64
	left float64
}

func newMatcher(p market.Protocol, servers []server, sys *System) *matcher {
	m := &matcher{p: p, lastNews: sys.Readings.LastNews, known: make([]news, len(servers)),
		flights: make([][]flight, len(servers)), counts: sys.Ahead > 0 || sys.Owners > 0}
	for j := range servers {
		s := &servers[j]
		m.offers = append(m.offers, &market.Offer{Server: s.index, Speed: s.speed, Available: s.available()})
		m.known[j] = s.news(0, false, false)
	}
	m.book = market.New(p, m.offers)
	m.book.Judge(sys.Readings.Deadlines, sys.Readings.JudgeRunning)
	m.book.EqualByBid(sys.Readings.EqualByBid)
	m.book.Ahead(sys.Ahead)
	return m
}

// tracks reports whether tasks on their way matter: where a server may be given several.
func (m *matcher) tracks() bool { return m.counts || m.p.Candidate != market.Free }

// sent notes that a server was given a task.
func (m *matcher) sent(o *market.Offer, q *market.Query) {
	if m.tracks() {
		m.flights[o.Server] = append(m.flights[o.Server], flight{q.ID, q.Bid, q.Left})
	}
}

// hear takes a server's news into its offer.
func (m *matcher) hear(n *news) *market.Offer {
	o, old := m.offers[n.server], &m.known[n.server]
	if m.counts && n.number < old.number {
		return o // later news have come before
	}
	if gone := int(n.arrived - old.arrived); m.tracks() && gone > 0 {
		f := m.flights[n.server]
		m.flights[n.server] = f[min(gone, len(f)):]
	}
	*old = *n
	if n.ended {
		o.Given = 0
	}
	m.refresh(o)
	return o
}

// missed notes that a task did not go to a server.
func (m *matcher) missed(server int32, id uint64) *market.Offer {
	f := m.flights[server]
	for i := range f {
		if f[i].id == id {
			m.flights[server] = append(f[:i:i], f[i+1:]...)
			break
		}
	}
	o := m.offers[server]
	m.refresh(o)
	return o
}

// refresh sets an offer to what its server said last, and what it was given since.
func (m *matcher) refresh(o *market.Offer) {
	n := &m.known[o.Server]
	o.Available, o.Price, o.Bids, o.Busy, o.High, o.Running = n.available, n.price, n.bids, n.busy, n.high, n.running
	if m.counts {
		o.Given, o.Due = n.given+len(m.flights[o.Server]), n.due
	}
	for _, f := range m.flights[o.Server] {
		o.Bids += f.bid
		o.Due += f.left / (o.Speed * max(n.available, 1e-9))
		if !m.lastNews && (!o.Busy || f.bid > o.High) {
			m.book.Take(o, f.id, f.bid)
		}
	}
}
