package peers

import (
	"encoding/binary"
	"slices"

	"skep/balance"
	"skep/gossip"
	"skep/grid"
	"skep/node/policies"
	"skep/node/reputation"
)

// peer is what this node knows of another node beyond its ad: the connection and the exchanged rates.
type peer struct {
	id         grid.NodeID
	cores      int32 // thousandths of a core
	can        ability
	up         bool
	load       load
	durable    bool        // what runs there goes on without it, as its last ad said
	rates      []grid.Rate // newest known: from a poll, an answer or an ad
	speed      float64
	columnMark policies.Mark // version of the column that the policies have
	site       *balance.Site
	met        *meeting // nil = neither has polled the other or given it work
}

// meeting is what a peer and this node have told each other by polls and offers.
type meeting struct {
	theirVersion uint64 // version of its rates that it last sent; 0 = known from an ad only
	ourVersion   uint64 // version of this node's rates that it is known to have
	stamp        uint64 // newest start lease stamp that it sent; 0 = none
	received     reputation.Received
	priced       *priced // nil = it has named no prices
}

// told returns what q and this node have told each other.
func (q *peer) told() meeting {
	if q.met == nil {
		return meeting{}
	}
	return *q.met
}

// meet returns the same to be changed.
func (q *peer) meet() *meeting {
	if q.met == nil {
		q.met = new(meeting)
	}
	return q.met
}

// ability is what a peer understands: the features that this version knows, at their numbers (grid.Feature), and what
// follows from the kinds of messages.
type ability uint32

const (
	hidesJobs   ability = 1 << grid.FeatureAccess
	knowsLevels ability = 1 << grid.FeatureLevels
	reopens     ability = 1 << grid.FeatureRetries
	ordersJobs  ability = 1 << grid.FeatureOrder
	keepsGangs  ability = 1 << grid.FeatureGangs
	knowsPrices ability = 1 << grid.FeaturePrices
)

const (
	takesWork    ability = 1 << (firstKinds + iota) // the kinds that a worker needs
	mayReplicate                                    // the kinds that a member of a register needs
	pulls                                           // the kinds of package pull

	// borrowed is no ability: the peer's rates belong to an immutable ad, and are never written to. It is here since a
	// field of its own would make each peer larger.
	borrowed
)

// firstKinds is the first bit that is no feature. That all features are below it is checked by the compiler.
const firstKinds = 28

const _ = 1<<firstKinds - 1 - grid.AllFeatures

// has reports whether all abilities of b are in a.
func (a ability) has(b ability) bool { return a&b == b }

// workKinds are the kinds that a peer must understand to be given work.
const workKinds = grid.KindSet(1<<grid.KindPoll | 1<<grid.KindOffer | 1<<grid.KindResultAck)

// memberKinds are the kinds that a member of a register must understand.
const memberKinds = grid.KindSet(1<<grid.KindWrite | 1<<grid.KindCampaign |
	1<<grid.KindKeepalive | 1<<grid.KindDeposit)

// abilities is what a peer of those kinds and features understands.
func abilities(kinds grid.KindSet, features grid.FeatureSet) ability {
	a := ability(features & grid.AllFeatures)
	if kinds&workKinds == workKinds {
		a |= takesWork
	}
	if kinds&memberKinds == memberKinds {
		a |= mayReplicate
	}
	if kinds&pullKinds == pullKinds {
		a |= pulls
	}
	return a
}

// peerset is the peers sorted by identity. It is small and searched often, so the first 8 bytes of the identities lie
// side by side in memory.
type peerset []peerKey

type peerKey struct {
	head uint64 // first 8 bytes of the identity, big-endian: same order
	*peer
}

func head(id grid.NodeID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// find returns the index of a peer, or where to insert it.
func (s peerset) find(id grid.NodeID) (int, bool) {
	h := head(id)
	lo, hi := 0, len(s)
	for lo < hi {
		if mid := (lo + hi) / 2; s[mid].head < h {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(s) && s[lo].head == h; lo++ {
		if c := s[lo].id.Compare(id); c >= 0 {
			return lo, c == 0
		}
	}
	return lo, false
}

// get returns a peer; nil if it is unknown.
func (s peerset) get(id grid.NodeID) *peer {
	if i, ok := s.find(id); ok {
		return s[i].peer
	}
	return nil
}

// minGrowth is the least number of elements by which the list of peers grows.
const minGrowth = 4

// open returns a peer, which is made if it is unknown.
func (p *Peers) open(id grid.NodeID) *peer {
	at, ok := p.set.find(id)
	if !ok {
		p.set = slices.Insert(grid.Room(p.set, minGrowth), at, peerKey{head(id), &peer{id: id, speed: 1}})
	}
	return p.set[at].peer
}

// connectedPeer is a peer with a live connection, its entry in the view and its track record.
type connectedPeer struct {
	*peer
	view   *gossip.Peer
	record *reputation.Record // nil if it was never given an attempt
}

// connected lists the peers with a live connection, ordered by identity; valid until the next call. The view, the peers
// and the track records are all sorted by identity, so one merge pass joins them.
func (p *Peers) connected() []connectedPeer {
	up, at, seen := p.cfg.Scratch.connected[:0], 0, p.records.Cursor()
	view, heads := p.cfg.Gossip.Peers(), p.cfg.Gossip.Heads()
	for i, h := range heads {
		for at < len(p.set) && p.set[at].head < h {
			at++
		}
		for k := at; k < len(p.set) && p.set[k].head == h; k++ {
			q := p.set[k].peer
			if !q.up || q.id != view[i].Node() {
				continue
			}
			up = append(up, connectedPeer{q, view[i], seen.Next(q.id)})
		}
	}
	p.cfg.Scratch.connected = up
	return up
}

// MayReopen reports whether a peer may be a member of a register that is opened again: it is not connected, or of a
// version that knows of it.
func (p *Peers) MayReopen(id grid.NodeID) bool {
	q := p.get(id)
	return q == nil || !q.up || q.can.has(reopens)
}

// Candidates returns the ads of connected nodes that can be members of a register and have these features
// (JobSpec.MemberFeatures), ordered by identity.
func (p *Peers) Candidates(features grid.FeatureSet) (ads []*grid.Ad) {
	wanted := abilities(0, features) | mayReplicate
	for _, m := range p.connected() {
		g := p.cfg.Gossip.Peer(m.id)
		if g == nil || g.Ad == nil || g.Ad.Shut() || !m.can.has(wanted) {
			continue
		}
		ads = append(ads, g.Ad)
	}
	return ads
}

// OrdersJobs reports whether a node is this one, or connected and of a version that can be asked how a job has ended.
func (p *Peers) OrdersJobs(id grid.NodeID) bool {
	q := p.get(id)
	return q != nil && q.up && q.can.has(ordersJobs)
}

// HidesJobs reports whether a node shows a job under access: owner only to the job's owner. One that is not connected
// is not known not to.
func (p *Peers) HidesJobs(id grid.NodeID) bool {
	q := p.set.get(id)
	return q == nil || q.can.has(hidesJobs)
}
