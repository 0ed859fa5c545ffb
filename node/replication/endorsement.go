package replication

import (
	"skep/grid"
	"skep/node/chain"
	"skep/node/replication/quorum"
)

// The members of a signed job sign each change of members before it is made: a majority of those before it and one of
// those after it. So a change that a node hears of has all that proves it, and how it is agreed upon is as for other
// jobs. What a member signs binds it to nothing: an owner that gives one change up may have another one signed.

// proposal is a change of members that an owner asks to be signed.
type proposal struct {
	change chain.Change
	next   quorum.Set                  // the members after it, and the one that is replaced
	signed [grid.MaxMembers + 1]string // by place in next; "" = not yet
	asked  uint8                       // bit set of places in next: asked since Endorsed was called last
}

// links returns the signed changes that led to the members; "" = there was none, or the job is not signed.
func (r *Register) links() string { return linksOf(r.state.Set) }

func linksOf(m *grid.Membership) string {
	if m == nil {
		return ""
	}
	return m.Links
}

// Endorsed reports whether the change that puts the node which joins in the place of a member may be made: of a signed
// job the members have signed it. Those that have not are asked, once for each call.
func (r *Register) Endorsed(place int) bool {
	if r.chain == nil {
		return true
	}
	o := r.ownership
	if o.proposal == nil || int(o.proposal.change.At) != place {
		o.proposal = &proposal{change: chain.Change{Epoch: r.state.Epoch, At: uint8(place), Node: r.Joining()},
			next: r.seats.With(r.seats.Change(place, r.state.Epoch))}
		o.proposal.signed[o.proposal.next.Place(r.me)] = r.chain.SignChange(&o.proposal.change)
	}
	signed := uint8(0)
	for at, s := range o.proposal.signed {
		if s != "" {
			signed |= 1 << at
		}
	}
	o.proposal.asked = 0
	return o.proposal.next.Decides(signed)
}

// endorsed returns the changes with the proposed one, which the members have signed; "" = the job is not signed.
func (r *Register) endorsed() string {
	if r.chain == nil {
		return ""
	}
	p := r.ownership.proposal
	r.ownership.proposal = nil
	for place, s := range p.signed {
		if s != "" {
			p.change.Votes = append(p.change.Votes, chain.CastVote{Place: uint8(place), Signature: s})
		}
	}
	return r.chain.Extend(&p.change)
}

// placeInProposal returns the place in the proposed set of the node at a place; -1 = nothing is proposed.
func (r *Register) placeInProposal(place int) int {
	if r.ownership.proposal == nil {
		return -1
	}
	return r.ownership.proposal.next.Place(r.Places()[place])
}

// asksToSign reports whether the node at a place is yet to be asked to sign the proposed change.
func (r *Register) asksToSign(place int) bool {
	at := r.placeInProposal(place)
	return at >= 0 && r.ownership.proposal.signed[at] == "" && r.ownership.proposal.asked&(1<<at) == 0
}

// ask returns the change that the node at a place is asked to sign; "" = none.
func (r *Register) ask(place int) string {
	at := r.placeInProposal(place)
	if at < 0 || r.ownership.proposal.signed[at] != "" {
		return ""
	}
	p := r.ownership.proposal
	p.asked |= 1 << at
	return string(append([]byte{p.change.At}, p.change.Node[:]...))
}

// endorse takes a signature of the proposed change. One of an earlier proposal is no offence.
func (r *Register) endorse(place int, signature string) {
	at := r.placeInProposal(place)
	if at < 0 || signature == "" {
		return
	}
	p := r.ownership.proposal
	if r.chain.CheckChange(r.Places()[place], &p.change, signature) == nil {
		p.signed[at] = signature
	}
}

// signChange returns this member's signature of the change that the owner of its epoch asks for with a write that it
// has accepted; "" = it signs none. No member signs that it is replaced itself: it is not dead. Those of a job with
// secrets stay: their holders check votes by its first members.
func (r *Replica) signChange(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer) string {
	if r.chain == nil || kind != grid.KindWriteAck || a != grid.RegisterOK || len(g.Change) != 1+len(grid.NodeID{}) ||
		r.state.Owner != to || r.state.Epoch != g.Epoch || r.state.Promised != g.Epoch || !r.seats.Settled() ||
		r.chain.Full() || len(r.spec.Secrets) > 0 {
		return ""
	}
	x := chain.Change{Epoch: g.Epoch, At: g.Change[0]}
	copy(x.Node[:], g.Change[1:])
	at := r.Place(x.Node)
	if members := r.Members(); int(x.At) >= len(members) || members[x.At] == r.me || members[x.At] == to ||
		at >= 0 && at < len(members) {
		return ""
	}
	return r.chain.SignChange(&x)
}
