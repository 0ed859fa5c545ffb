package replication

import (
	"testing"
	"time"

	"skep/grid"
)

var fourth, fifth = grid.NodeID{4}, grid.NodeID{5}

func membership(number uint32, extra grid.NodeID, at uint32, members ...grid.NodeID) *grid.Membership {
	return &grid.Membership{Number: number, Epoch: 1, Members: members, At: at, Extra: extra}
}

// replacing is a register that this node owns, in which the fourth node has the place of the third, not settled yet.
func replacing(t *testing.T, s *Replicas) *Replica {
	t.Helper()
	r := owned(t, s, 1, second, third)
	r.Admit(start, third, fourth)
	for !r.Joining().IsZero() {
		var fx grid.Effects
		s.SendWrites(start, &fx)
		g := *sentTo(t, &fx, fourth, grid.KindWrite)
		g.Answer = grid.RegisterOK
		r.Answered(start, fourth, &g, nil, new(grid.Effects))
		r.Advance(start, new(grid.Effects))
	}
	if r.seats.Settled() || r.Members()[2] != fourth {
		t.Fatalf("the members are %+v", r.State().Set)
	}
	return r
}

// An owner that hears of other members than it knows is the owner no more, whatever the change's number: a member that
// makes one up that lacks the owner has it act as one that has no place.
func TestOwnerOfOtherMembersStepsDown(t *testing.T) {
	for what, m := range map[string]*grid.Membership{
		"the same, settled":  membership(1, grid.NodeID{}, 1, second, third, fourth),
		"of a later epoch":   {Number: 1, Epoch: 9, Members: []grid.NodeID{second, third, fourth}, At: 1, Extra: fifth},
		"the third is back":  membership(2, grid.NodeID{}, 1, self, third, fourth),
		"with two more":      membership(7, grid.NodeID{}, 1, self, second, third, fourth, fifth),
		"itself, as settled": membership(1, grid.NodeID{}, 2, self, second, fourth),
	} {
		s := newReplicas()
		r := replacing(t, s)
		g := &grid.RegisterMessage{Job: r.id, Epoch: 1, Answer: grid.RegisterUnknown, Set: m}
		var fx grid.Effects
		s.SendWrites(start, &fx)
		r.Answered(start, second, g, nil, &fx)
		stays := what == "itself, as settled" || what == "with two more"
		if r.IsOwner() != stays || r.MayAct(start) && !stays || stays && len(r.Members()) != 3 {
			t.Errorf("%s: it is the owner: %v, of %v", what, r.IsOwner(), r.Members())
		}
	}
}

// A node whose vote says that it is no member any more is not asked for the rest of its entries.
func TestVoterWithoutAPlaceIsNotAskedAgain(t *testing.T) {
	s := newReplicas()
	r := s.Add(grid.JobID{Origin: second}, &grid.JobSpec{Count: 1}, 0, []grid.NodeID{second, self, third},
		grid.RegisterState{Promised: 1, VotedFor: second, Epoch: 1, Owner: second})
	r.Campaign(afterwards, []grid.NodeID{third}, new(grid.Effects))
	a := &grid.RegisterMessage{Job: r.id, Epoch: r.CampaignEpoch(), Answer: grid.RegisterOK, More: true, Next: 1,
		Set: membership(1, grid.NodeID{}, 2, second, self, fourth)}
	var fx grid.Effects
	if r.VoteAnswered(afterwards, third, a, &fx); len(fx.Sends) > 0 || r.IsOwner() {
		t.Errorf("it is owner: %v; sent: %+v", r.IsOwner(), fx.Sends)
	}
}

// Keepalives and writes go on to those that have a place, after a node has lost its own: one that was to join when the
// owner was another for a while, and one that was replaced between a keepalive and its answer.
func TestKeepalivesAfterAPlaceIsLost(t *testing.T) {
	s := newReplicas()
	r := owned(t, s, 1, second, third)
	r.Admit(start, third, fourth)
	r.StepDown()
	r.BecomeOwner(s.nextTerm())
	s.Note(fourth)
	s.Resend(start.Add(time.Second), fourth, new(grid.Effects)) // a node that has connected
	if r.Place(fourth) >= 0 {
		t.Error("who joined for an earlier ownership joins still")
	}

	s = newReplicas()
	r = owned(t, s, 1, second, third)
	k := s.keepaliveTo(t, start, third)
	differs := &grid.Message{Register: grid.RegisterMessage{Seq: k.Register.Seq, Answer: grid.RegisterDiffers}}
	var fx grid.Effects
	s.KeepaliveAnswered(start, third, differs, &fx)
	listed := sentTo(t, &fx, third, grid.KindKeepalive)
	r.heed(second, membership(1, grid.NodeID{}, 2, self, second, fourth), new(grid.Effects))
	agrees := &grid.Message{Register: grid.RegisterMessage{Seq: listed.Seq, Answer: grid.RegisterOK}}
	if a := s.KeepaliveAnswered(start, third, agrees, new(grid.Effects)); !a.Alive || r.Place(third) >= 0 {
		t.Errorf("%+v, the third has place %d", a, r.Place(third))
	}
}

// An owner that hears from one that was replaced that other members decide is the owner no more: its job is told so.
func TestAnOwnerThatLearnsOfOtherMembersLosesTheRegister(t *testing.T) {
	s := newReplicas()
	r := owned(t, s, 1, second, third)
	changed := &grid.Membership{Number: 1, Epoch: 2, Members: []grid.NodeID{self, second, {4}}, At: 2}
	var fx grid.Effects
	r.Vote(start, third, &grid.RegisterMessage{Job: r.id, Epoch: 3, Set: changed}, &fx)
	if r.IsOwner() {
		t.Fatal("it owns the register still")
	}
	for x, ok := s.NextChange(); ok; x, ok = s.NextChange() {
		if x.Kind == grid.RegisterLost {
			return
		}
	}
	t.Error("its job is not told that the register is lost")
}

// A node that is being replaced may get every vote, and owns nothing with them. It asks again later: else it would
// never hear that the job is over.
func TestWhoIsReplacedAsksAgainThoseThatVoted(t *testing.T) {
	s := newReplicas()
	r := s.Add(grid.JobID{Origin: self}, &grid.JobSpec{Count: 1}, 0, []grid.NodeID{self, second, third},
		grid.RegisterState{Promised: 1, VotedFor: second, Epoch: 1, Owner: second,
			Set: &grid.Membership{Number: 1, Epoch: 1, Members: []grid.NodeID{{4}, second, third}, Extra: self}})
	r.Resume(start)
	asked := func(now grid.Time) (n int) {
		var fx grid.Effects
		r.CampaignIfDue(now, []grid.NodeID{second, third, {4}}, &fx)
		for k := range fx.Sends {
			m, to := &fx.Sends[k].Msg, fx.Sends[k].To
			if n++; m.Kind != grid.KindCampaign {
				t.Fatalf("sends a %v", m.Kind)
			}
			g := grid.RegisterMessage{Job: r.id, Epoch: m.Register.Epoch, Seq: m.Register.Seq, Answer: grid.RegisterOK}
			r.VoteAnswered(now, to, &g, new(grid.Effects))
		}
		return n
	}
	now := start.Add(10 * lease)
	if n := asked(now); n != 3 || r.IsOwner() {
		t.Fatalf("asks %d nodes, owner %t: want 3, and no owner", n, r.IsOwner())
	}
	if n := asked(now.Add(6 * lease)); n != 3 {
		t.Errorf("asks %d nodes again, want 3", n)
	}
}

// A node that joined for an earlier owner, or has the place of a member in a change of that which was never settled,
// may replace a member for a later owner.
func TestWhoJoinedForAnEarlierOwnerMayJoin(t *testing.T) {
	for what, m := range map[string]*grid.Membership{
		"it joined":       {Epoch: 9, Members: []grid.NodeID{self, second, third}, Extra: fourth, Joining: true},
		"it was a member": membership(1, second, 1, self, fourth, third),
	} {
		s := newReplicas()
		r := owned(t, s, 1, second, third)
		r.Admit(start, third, fourth)
		for k := range 3 {
			var fx grid.Effects
			now := start.Add(time.Duration(k) * lease)
			r.Repeat(now, &fx)
			s.SendWrites(now, &fx)
			g := *sentTo(t, &fx, fourth, grid.KindWrite)
			g.Answer, g.Set = grid.RegisterOK, m
			r.Answered(now, fourth, &g, nil, new(grid.Effects))
			if r.Advance(now, new(grid.Effects)); r.Joining().IsZero() {
				break
			}
		}
		if r.Members()[2] != fourth {
			t.Errorf("%s: it does not get the place: %+v", what, r.State().Set)
		}
	}
}
