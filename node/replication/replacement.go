package replication

import (
	"slices"
	"time"

	"skep/grid"
)

// The replacement of members in time: who is dead for long, and how members and former ones hear of a change.

// replacement is the owner's replacement of a member.
type replacement struct {
	out      grid.NodeID   // who is replaced; zero = nobody
	since    grid.Time     // when the other one began to be given the record
	declined []grid.NodeID // they did not get the record, in this attempt to replace a member
	able     []grid.NodeID // members that are known to keep registers whose members are replaced
}

// joinTime bounds, in leases, how long a node may take for the record before another one is asked.
const joinTime = 10

// maxDeclined bounds the nodes that are not asked again to replace a member; then all are.
const maxDeclined = 8

// NoteAble notes a member that keeps registers whose members are replaced (grid.FeatureReplacement).
func (r *Replica) NoteAble(id grid.NodeID) {
	if !slices.Contains(r.replacement.able, id) {
		r.replacement.able = append(r.replacement.able, id)
	}
}

// Declined reports whether a node did not get the record, when it was to replace a member.
func (r *Replica) Declined(id grid.NodeID) bool { return slices.Contains(r.replacement.declined, id) }

// DeadMember returns a member that has not answered this node, the owner, for a time, if it may be replaced now: no
// other is being, all others keep registers whose members are replaced, and a signed job has room for a further change.
// Zero = none.
func (r *Replica) DeadMember(now grid.Time, after time.Duration) (dead grid.NodeID) {
	if r.chain != nil && r.chain.Full() || !r.Leads() || r.Sole() || !r.seats.Settled() || !r.Joining().IsZero() ||
		now < r.ledSince.Add(after) {
		return dead
	}
	last := now.Add(-after)
	for place, id := range r.Members() {
		heard := r.acked[place]
		if p := r.of.by.Get(id); p != nil {
			heard = max(heard, p.lastAlive)
		}
		if place != r.self && heard <= last {
			dead, last = id, heard
		}
	}
	for _, id := range r.Members() {
		if id != dead && id != r.me && !slices.Contains(r.replacement.able, id) {
			return grid.NodeID{}
		}
	}
	return dead
}

// Admit begins to give the record to a node that is to replace a member.
func (r *Replica) Admit(now grid.Time, out, in grid.NodeID) {
	before := r.seats.Places()
	r.Join(in)
	r.replacement.out, r.replacement.since = out, now
	r.reseated(before)
	r.MarkDirty()
}

// Advance goes on with the replacement of a member: the node that has the record takes the member's place; one that
// does not get it in time, or refuses it, does not.
func (r *Replica) Advance(now grid.Time, fx *grid.Effects) {
	id, before := r.Joining(), r.seats.Places()
	if id.IsZero() {
		return
	}
	place, out := r.Place(id), r.Place(r.replacement.out)
	switch {
	case r.state.Done, r.HasRefused(place), now >= r.replacement.since.Add(joinTime*r.of.cfg.Lease):
		if r.replacement.declined = append(r.replacement.declined, id); len(r.replacement.declined) > maxDeclined {
			r.replacement.declined = nil
		}
		r.GiveUpJoin()
	case r.UpToDate(place) && !r.Endorsed(out): // the members are asked to sign it
		r.MarkDirty()
		return
	case r.UpToDate(place):
		r.replacement.declined = nil
		r.Replace(out)
		r.Save(fx)
		r.of.changed(grid.RegisterReseated, r)
	default:
		return
	}
	r.replacement.out = grid.NodeID{}
	r.reseated(before)
	r.MarkDirty()
}

// reseated follows a change of who has a place: what is kept by place follows the nodes.
func (r *Replica) reseated(before []grid.NodeID) {
	places := r.seats.Places()
	if slices.Equal(before, places) {
		return
	}
	move := func(times []grid.Time) []grid.Time {
		moved := make([]grid.Time, len(places))
		for place, id := range places {
			if was := slices.Index(before, id); was >= 0 {
				moved[place] = times[was]
			}
		}
		return moved
	}
	r.acked, r.acceptedAt, r.writeSent = move(r.acked), move(r.acceptedAt), move(r.writeSent)
	r.heard.members = reseated(r.heard.members, before, r.seats)
	for _, q := range r.of.questions {
		if q.replica == r {
			q.agreed, q.disagreed = reseated(q.agreed, before, r.seats), reseated(q.disagreed, before, r.seats)
		}
	}
	if !r.retired {
		r.of.share(r, before)
	}
}

// share lists a replica with those that have a place now, and no longer with those that have none any more.
func (s *Replicas) share(r *Replica, before []grid.NodeID) {
	for _, id := range before {
		if l := s.shared.Get(id); l != nil && r.Place(id) < 0 {
			l.replicas = slices.DeleteFunc(slices.Clone(l.replicas), func(x *Replica) bool { return x == r })
			if len(l.replicas) == 0 {
				s.shared.Drop(id)
			}
		}
	}
	for _, id := range r.seats.Places() {
		if !slices.Contains(before, id) && id != s.cfg.Self && !slices.Contains(s.With(id), r) {
			s.shareWith(r, id)
		}
	}
}

// heed takes over what a node says of the members. Who was the owner may be so no longer with that, or be no member. Of
// a signed job who states a change that is not signed is an offender: who has it from another node has checked it.
func (r *Replica) heed(from grid.NodeID, m *grid.Membership, fx *grid.Effects) {
	before, could, owned := r.seats.Places(), r.MayOwn(), r.IsOwner()
	if r.learn(from, m) {
		fx.Offences = append(fx.Offences, from)
	}
	if r.state.Set != m || m == nil {
		return
	}
	r.reseated(before)
	if owned && !r.IsOwner() {
		r.StepDown()
	}
	if could && !r.MayOwn() {
		r.campaignAt = 0
		r.of.changed(grid.RegisterReseated, r)
	}
}

// replyReplaced answers a node that campaigns and is no member any more. The job's origin hears how the job ended.
func (r *Replica) replyReplaced(now grid.Time, to grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	if !r.state.Done || r.id.Origin == to {
		a := grid.RegisterReplaced
		if r.state.Done {
			a = grid.RegisterDone
		}
		m := answer(r, to, grid.KindVote, g, a, fx)
		if m.Opened = r.state.Opened; r.state.Done {
			m.Owner = r.state.Owner
			r.Page(g.Next, m)
			ConvertTimes(r.of.wall.At(now).UnixNano(), m.Entries)
		}
		return
	}
	t := makeTombstone(&r.Register)
	t.Answer(grid.KindVote, g, answer(r, to, grid.KindVote, g, grid.RegisterGone, fx))
}

// askIfDue asks, as a node that is no member any more, or is being replaced, what has become of the register. One that
// was given the record and hears no more of it is not needed.
func (r *Replica) askIfDue(now grid.Time, voters []grid.NodeID, fx *grid.Effects) {
	switch {
	case r.Joins():
		if r.TakeoverDue(now) && now >= r.ownerLastAnswered().Add(joinTime*r.of.cfg.Lease) {
			r.of.changed(grid.RegisterUnneeded, r)
		}
	case now >= r.campaignAt && (r.Replaced() || r.TakeoverDue(now)):
		if r.closedIn == 0 { // who has voted for it is asked again: it owns nothing with that
			r.EndCampaign()
		}
		r.Campaign(now, voters, fx)
		r.campaignAt = now.Add(5 * r.of.cfg.Lease)
	}
}
