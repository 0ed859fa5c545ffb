package replication

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/chain"
)

// newSignedAt returns another node that keeps the register of the job, as it is given the record.
func (m *signedMember) newSignedAt(number byte, set *grid.Membership) signedMember {
	key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), number))
	x := signedMember{key: chain.Key(key), id: grid.NodeID(key.Public().(ed25519.PublicKey))}
	s := new(NewReplicas(Config{Self: x.id, Boot: 1, Lease: lease, Signer: x.key}, grid.Wall{}, grid.NewRand(1, 1)))
	if set != nil {
		x.Replica = s.Add(m.id2(), m.spec, 0, m.First(), grid.RegisterState{Genesis: m.State().Genesis, Set: set})
	}
	return x
}

// writes delivers what the owner has to write to other nodes, and the answers.
func (m *signedMember) writes(t *testing.T, to ...*signedMember) {
	t.Helper()
	var sent grid.Effects
	m.MarkDirty()
	m.of.SendWrites(afterwards, &sent)
	for _, x := range to {
		var answered, fx grid.Effects
		w := sentTo(t, &sent, x.id, grid.KindWrite)
		x.Answer(m.id, grid.KindWriteAck, w, x.Write(afterwards, m.id, w, &fx), &answered)
		if len(fx.Offences) > 0 {
			t.Fatalf("the owner is an offender: %+v", w)
		}
		m.Answered(afterwards, x.id, sentTo(t, &answered, m.id, grid.KindWriteAck), nil, new(grid.Effects))
	}
}

// replaced has the origin replace the third member by a fourth node, and returns that one and the change. Nothing of it
// is settled.
func replaced(t *testing.T) (m [3]signedMember, fourth signedMember, set *grid.Membership) {
	t.Helper()
	m = newSigned(t)
	m[0].writes(t, &m[1])
	fourth = m[0].newSignedAt(9, nil)
	m[0].Admit(afterwards, m[2].id, fourth.id)
	fourth = m[0].newSignedAt(9, m[0].ownership.joining)
	m[0].writes(t, &fourth)
	if m[0].Advance(afterwards, new(grid.Effects)); m[0].seats.Number() != 0 {
		t.Fatal("the members are changed and nobody else has signed it")
	}
	m[0].writes(t, &m[1], &fourth)
	m[0].Advance(afterwards, new(grid.Effects))
	set = m[0].State().Set
	if set == nil || set.Links == "" || set.Members[2] != fourth.id || m[0].ownership.proposal != nil {
		t.Fatalf("the members are %+v", set)
	}
	return m, fourth, set
}

// A member follows the members that a majority of those before and of those after has signed. Who states others is an
// offender and changes nothing.
func TestUnsignedMembershipsAreForged(t *testing.T) {
	_, _, good := replaced(t)
	for what, how := range map[string]func(*grid.Membership){
		"not signed":    func(s *grid.Membership) { s.Links = "" },
		"truncated":     func(s *grid.Membership) { s.Links = s.Links[:len(s.Links)-5] },
		"other members": func(s *grid.Membership) { s.Members = slices.Clone(s.Members); s.Members[1] = fifth },
		"a later one":   func(s *grid.Membership) { s.Number = 7 },
		"as it is":      func(*grid.Membership) {},
	} {
		for _, kind := range []grid.Kind{grid.KindWrite, grid.KindCampaign, grid.KindVote} {
			m := newSigned(t)
			set := *good
			how(&set)
			g := grid.RegisterMessage{Job: m[1].id2(), Epoch: 1, Set: &set}
			var fx grid.Effects
			switch kind {
			case grid.KindWrite:
				m[1].Write(afterwards, m[0].id, &g, &fx)
			case grid.KindCampaign:
				m[1].Vote(afterwards, m[0].id, &g, &fx)
			case grid.KindVote:
				m[1].VoteAnswered(afterwards, m[0].id, &g, &fx)
			}
			changed, offends := m[1].State().Set != nil, slices.Contains(fx.Offences, m[0].id)
			if right := what == "as it is"; changed != right || offends == right {
				t.Errorf("%s, with kind %v: members are changed: %v, it is an offender: %v", what, kind, changed, offends)
			}
			if changed && len(fx.Saves) == 0 {
				t.Errorf("%s, with kind %v: it is not saved", what, kind)
			}
		}
	}
}

// A node that is described a job with members that were not signed keeps no register of it.
func TestDescribedMembersAreChecked(t *testing.T) {
	m, fourth, set := replaced(t)
	unsigned := *set
	unsigned.Links = ""
	g := &grid.RegisterMessage{Job: m[0].id2(), Spec: m[0].spec, Members: m[0].First(), Set: set,
		Signatures: grid.Signatures{Genesis: m[0].State().Genesis}}
	if !fourth.of.Admits(g) {
		t.Error("members that have signed each other are refused")
	}
	if g.Set = &unsigned; fourth.of.Admits(g) {
		t.Error("members are believed that nobody has signed")
	}
}

// The members after a change vote, with the one before it while it is not settled; their votes prove the owner to those
// that know of the change.
func TestMembersAfterAChangeVote(t *testing.T) {
	m, fourth, set := replaced(t)
	m[0].writes(t, &fourth)
	var fx grid.Effects
	m[1].heed(m[0].id, set, &fx)
	later := afterwards.Add(time.Hour)
	// a vote by who has not heard of the change is no offence, and none
	old := newSigned(t)
	m[1].Campaign(later, []grid.NodeID{m[2].id}, &fx)
	stale := *sentTo(t, &fx, m[2].id, grid.KindCampaign)
	stale.Set = nil
	var voted grid.Effects
	old[2].Vote(later, m[1].id, &stale, &voted)
	var answered grid.Effects
	m[1].VoteAnswered(later, m[2].id, sentTo(t, &voted, m[1].id, grid.KindVote), &answered)
	if len(answered.Offences) > 0 || m[1].IsOwner() {
		t.Errorf("a vote by who does not know the members: offences %v, owner %v", answered.Offences, m[1].IsOwner())
	}
	fx.Reset()
	for _, voter := range []*signedMember{&m[2], &fourth} {
		m[1].VoteAnswered(later, voter.id, takeOver(t, &m[1], voter, later), &fx)
	}
	if !m[1].IsOwner() || len(fx.Offences) > 0 {
		t.Fatalf("it is owner: %v; offences %v", m[1].IsOwner(), fx.Offences)
	}
	m[1].writes(t, &fourth)
	if s := fourth.State(); s.Owner != m[1].id || s.Mandate == "" {
		t.Errorf("the new member follows %+v", s)
	}
}

// A member signs a change for the owner whose epoch it has accepted, of one member that is neither that owner nor
// itself, to a node that is no member.
func TestMembersSignNoOtherChange(t *testing.T) {
	m := newSigned(t)
	m[0].writes(t, &m[1])
	ask := func(at byte, node grid.NodeID) string { return string(append([]byte{at}, node[:]...)) }
	for what, c := range map[string]struct {
		from   grid.NodeID
		epoch  uint32
		answer grid.RegisterAnswer
		change string
		signed bool
	}{
		"good":              {m[0].id, 1, grid.RegisterOK, ask(2, fourth), true},
		"not the owner":     {m[2].id, 1, grid.RegisterOK, ask(2, fourth), false},
		"of another epoch":  {m[0].id, 2, grid.RegisterOK, ask(2, fourth), false},
		"not accepted":      {m[0].id, 1, grid.RegisterUnknown, ask(2, fourth), false},
		"its own place":     {m[0].id, 1, grid.RegisterOK, ask(1, fourth), false},
		"the owner's place": {m[0].id, 1, grid.RegisterOK, ask(0, fourth), false},
		"no place":          {m[0].id, 1, grid.RegisterOK, ask(3, fourth), false},
		"a member":          {m[0].id, 1, grid.RegisterOK, ask(2, m[1].id), false},
		"cut":               {m[0].id, 1, grid.RegisterOK, ask(2, fourth)[:9], false},
	} {
		g := &grid.RegisterMessage{Job: m[1].id2(), Epoch: c.epoch, Signatures: grid.Signatures{Change: c.change}}
		if s := m[1].signChange(c.from, grid.KindWriteAck, g, c.answer); (s != "") != c.signed {
			t.Errorf("%s: it is signed: %v", what, s != "")
		}
	}
	secret := *m[1].spec
	secret.Secrets = make([]grid.SecretUse, 1)
	m[1].spec = &secret
	g := &grid.RegisterMessage{Job: m[1].id2(), Epoch: 1, Signatures: grid.Signatures{Change: ask(2, fourth)}}
	if m[1].signChange(m[0].id, grid.KindWriteAck, g, grid.RegisterOK) != "" {
		t.Error("it is signed, and the job has secrets, whose holders go by its first members")
	}
}
