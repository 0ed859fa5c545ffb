package peers

import (
	"slices"
	"time"

	"skep/balance"
	"skep/exec"
	"skep/gossip"
	"skep/grid"
	"skep/node/policies"
	"skep/node/price"
	"skep/node/profile"
	"skep/node/rates"
	"skep/node/reputation"
)

// Config is what a node says of itself once, and the parts that are joined here.
type Config struct {
	Self          grid.NodeID
	Private       bool // this node runs only tasks that were submitted to it
	Cores         grid.MilliCPU
	Speed         float64       // of one core
	ArrivalMemory time.Duration // time constant of the arrival rates
	RatesGiven    bool          // all rates are known beforehand: nothing that a peer says is doubted
	Balance       *balance.Config
	// a node's current state, in simulations with perfect information; nil = ads count
	Truth func(grid.NodeID) *grid.Ad
	// so too, what the owner of a gang takes the last ad of a node for; nil = for what it is
	GangFacts func(*grid.Ad) *grid.Ad
	Scratch   *Scratch

	Exec     *exec.Exec // what this node runs; read only
	Worker   Worker
	Gossip   *gossip.Gossip
	Rates    *rates.Estimator
	Profile  *profile.Profile
	Policies policies.Set
}

// Worker is this node's own.
type Worker interface {
	// Stamp is the start lease stamp that it would send now.
	Stamp(now grid.Time) uint64
}

// Scratch is memory used only within a call, or free for reuse. Nodes that never step at the same time can share one.
type Scratch struct {
	connected  []connectedPeer
	rates      []grid.Rate
	blacklists []*reputation.Blacklist // by class, while columns are computed
	lists      [][]grid.Rate           // free buffers of peers whose rates alias their ads'
	loaded     []grid.NodeID           // of Peers.withLoad
}

// Peers are the other nodes as this one knows them.
type Peers struct {
	cfg      Config
	set      peerset
	own      peer        // this node
	price    price.Asked // what it asks
	records  reputation.Records
	hazards  reputation.Hazards
	failures reputation.FailureLog
	dialled  []dialled
	holders  holders // of inputs

	bandwidths bandwidths
	loads      [loads]int // number of peers of each, except otherLoad
}

// New returns the peers of a node: none yet.
func New(cfg Config) Peers {
	return Peers{cfg: cfg, price: price.New(cfg.Exec, cfg.Policies.DefaultName()),
		own: peer{id: cfg.Self, cores: int32(cfg.Cores), up: true, can: ^ability(0)}}
}

// get returns a node: this one, or a peer; nil = it is unknown.
func (p *Peers) get(id grid.NodeID) *peer {
	if id == p.cfg.Self {
		return &p.own
	}
	return p.set.get(id)
}

// Policies are the placement policies that the columns are told to.
func (p *Peers) Policies() *policies.Set { return &p.cfg.Policies }

// Price is what this node asks.
func (p *Peers) Price() *price.Asked { return &p.price }

// Up records that a peer has connected.
func (p *Peers) Up(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	q := p.open(ev.Peer)
	if q.up = true; q.met != nil {
		q.met.theirVersion, q.met.ourVersion = 0, 0
	}
	q.can = abilities(ev.Kinds, ev.Features) | q.can&borrowed
	p.cfg.Policies.ColumnsChanged()
	p.cfg.Gossip.Up(now, ev.Peer, ev.RTT, fx)
	if known := p.cfg.Gossip.Peer(ev.Peer); known != nil && known.Ad != nil {
		p.learnRates(q, known.Ad)
		p.noteLoad(q, known.Ad)
	}
}

// Down records that a peer has disconnected, and reports whether it was connected. Forget follows.
func (p *Peers) Down(now grid.Time, id grid.NodeID, fx *grid.Effects) bool {
	p.cfg.Gossip.Down(now, id, fx)
	q := p.set.get(id)
	if q == nil {
		return false
	}
	q.up = false
	p.noteLoad(q, nil)
	p.cfg.Policies.ColumnsChanged()
	p.cfg.Policies.Note(balance.Outcome{Kind: balance.Gone, At: now, Node: id})
	return true
}

// Forget forgets what a peer has said since it connected. Its track record stays.
func (p *Peers) Forget(id grid.NodeID) {
	if at, ok := p.set.find(id); ok {
		p.set = slices.Delete(p.set, at, at+1)
	}
}

// AdHeard takes an ad that is newer than the known one, and reports whether its node is connected.
func (p *Peers) AdHeard(g *gossip.Peer) bool {
	q := p.set.get(g.Node())
	if q == nil || g.Ad == nil {
		return false
	}
	p.learnRates(q, g.Ad)
	p.noteLoad(q, g.Ad)
	p.cfg.Policies.ColumnsChanged()
	return true
}

// Connected reports whether a node is this node or connected.
func (p *Peers) Connected(id grid.NodeID) bool {
	q := p.get(id)
	return q != nil && q.up
}

// ExpectsAds reports whether a connected node has not sent its ad yet. A connected node outside the view is older, and
// was displaced there.
func (p *Peers) ExpectsAds() bool {
	for _, q := range p.set {
		if g := p.cfg.Gossip.Peer(q.id); q.up && g != nil && g.Ad == nil {
			return true
		}
	}
	return false
}

// Name returns a node's name, or its short ID if it has none.
func (p *Peers) Name(id grid.NodeID) string {
	if own := p.cfg.Profile.Name(); id == p.cfg.Self && own != "" {
		return own
	}
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil && g.Ad.Name != "" {
		return g.Ad.Name
	}
	return id.Short()
}

// Home is the site of this node; nil = it has none.
func (p *Peers) Home() *balance.Site { return p.cfg.Profile.Site() }

// RoundTrip returns the median round trip to the given peers (of at most 16), 0 if none is known.
func (p *Peers) RoundTrip(ids []grid.NodeID) time.Duration {
	rtts := make([]time.Duration, 0, 16)
	for _, id := range ids {
		if g := p.cfg.Gossip.Peer(id); g != nil && g.RTT > 0 && len(rtts) < cap(rtts) {
			rtts = append(rtts, g.RTT)
		}
	}
	if len(rtts) == 0 {
		return 0
	}
	slices.Sort(rtts)
	return rtts[len(rtts)/2]
}

// Inform gives the node perfect information about its connected peers, where a simulation asks for that.
func (p *Peers) Inform(now grid.Time) {
	if p.cfg.Truth == nil {
		return
	}
	for _, m := range p.connected() {
		ad := p.cfg.Truth(m.id)
		if ad == nil || m.view.Ad == nil {
			continue
		}
		p.cfg.Gossip.Correct(now, m.view, ad)
		m.speed, m.cores = ad.Speed, int32(ad.Capacity.CPU)
		m.rates, m.can = ad.Rates, m.can|borrowed
	}
	p.cfg.Policies.ColumnsChanged()
}
