package replication

import (
	"testing"
	"time"

	"skep/grid"
)

const lease = 6 * time.Second

var (
	self, second, third = grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}
	start               = grid.Time(time.Hour)
)

func newReplicas() *Replicas {
	return new(NewReplicas(Config{Self: self, Boot: 1, Lease: lease}, grid.Wall{}, grid.NewRand(1, 1)))
}

// owned adds a register that this node owns and of which the given members have accepted the epoch.
func owned(t *testing.T, s *Replicas, nonce byte, accepted ...grid.NodeID) *Replica {
	t.Helper()
	r := s.Add(grid.JobID{Origin: self, Nonce: [10]byte{nonce}}, &grid.JobSpec{Count: 1}, 0,
		[]grid.NodeID{self, second, third}, grid.RegisterState{})
	r.BecomeOwner(s.nextTerm())
	r.MarkDirty()
	var fx grid.Effects
	s.SendWrites(start, &fx)
	for _, w := range fx.Sends {
		for _, id := range accepted {
			if w.To != id {
				continue
			}
			g := grid.RegisterMessage{Job: r.id, Epoch: w.Msg.Register.Epoch, Seq: w.Msg.Register.Seq, Answer: grid.RegisterOK}
			if _, valid := r.Answered(start, id, &g, nil, new(grid.Effects)); !valid {
				t.Fatalf("the answer of %v does not count", id.Short())
			}
		}
	}
	return r
}

// keepaliveTo sends keepalives and returns that to a node.
func (s *Replicas) keepaliveTo(t *testing.T, now grid.Time, to grid.NodeID) *grid.Message {
	t.Helper()
	var fx grid.Effects
	s.SendKeepalives(now, nil, &fx)
	for i := range fx.Sends {
		if fx.Sends[i].To == to {
			return &fx.Sends[i].Msg
		}
	}
	t.Fatalf("no keepalive to %v", to.Short())
	return nil
}

// A keepalive that a member agrees to extends the quorum lease of the registers that it listed: from when it was sent,
// and not of one that was accepted only after it was sent.
func TestKeepaliveExtendsTheLeaseOfListedRegisters(t *testing.T) {
	s := newReplicas()
	old := owned(t, s, 1, second)
	sent := start.Add(time.Second)
	m := s.keepaliveTo(t, sent, second)
	if m.Register.Count != 1 {
		t.Fatalf("it lists %d registers, want 1", m.Register.Count)
	}
	later := s.Add(grid.JobID{Origin: self, Nonce: [10]byte{2}}, &grid.JobSpec{Count: 1}, 0,
		[]grid.NodeID{self, second, third}, grid.RegisterState{})
	later.BecomeOwner(s.nextTerm())
	later.MarkDirty()
	var fx grid.Effects
	s.SendWrites(start, &fx)
	g := grid.RegisterMessage{Job: later.id, Epoch: 1, Seq: fx.Sends[0].Msg.Register.Seq, Answer: grid.RegisterOK}
	if _, valid := later.Answered(sent.Add(time.Second), second, &g, nil, new(grid.Effects)); !valid {
		t.Fatal("the write is not answered")
	}
	a := s.KeepaliveAnswered(sent.Add(2*time.Second), second,
		&grid.Message{Register: grid.RegisterMessage{Seq: m.Register.Seq, Answer: grid.RegisterOK}}, &fx)
	if !a.Alive || !a.Revived || !a.Agrees || a.Forged {
		t.Errorf("answer %+v", a)
	}
	if got, want := old.MayActUntil(), sent.Add(lease); got != want {
		t.Errorf("the lease of the listed register ends at %v, want %v", got, want)
	}
	if got, want := later.MayActUntil(), start.Add(lease); got != want {
		t.Errorf("the lease of the other one ends at %v, want %v: from its write", got, want)
	}
	if later.MayAct(start.Add(lease)) || !old.MayAct(start.Add(lease)) {
		t.Error("it may act beyond the end of the lease, or not before")
	}
}

// The digests of all members, counted in one pass, are those of a pass for each.
func TestDigestsOfOnePass(t *testing.T) {
	s := newReplicas()
	for i := range byte(9) {
		switch i % 3 {
		case 0:
			owned(t, s, i, second)
		case 1:
			owned(t, s, i, second, third)
		default:
			owned(t, s, i).StepDown()
		}
	}
	s.countShared()
	for id, count := range map[grid.NodeID]uint32{second: 6, third: 3} {
		if got, want := s.by.Get(id).shared, s.ownedWith(id); got != want || got.count != count {
			t.Errorf("%v: %+v, alone %+v, want %d registers", id.Short(), got, want, count)
		}
	}
}

// The registers that a member was asked about one by one are forgotten with the keepalive: when the next one is sent,
// or when there is nothing to send one for and no answer can tell anything.
func TestListedRegistersAreForgotten(t *testing.T) {
	named := func() (*Replicas, *Replica, *coMember) {
		s := newReplicas()
		r := owned(t, s, 1, second)
		m := s.keepaliveTo(t, start, second)
		var fx grid.Effects
		s.KeepaliveAnswered(start, second,
			&grid.Message{Register: grid.RegisterMessage{Seq: m.Register.Seq, Answer: grid.RegisterDiffers}}, &fx)
		if p := s.by.Get(second); len(fx.Sends) != 1 || len(fx.Sends[0].Msg.Attempts) != 1 || len(p.listed) != 1 {
			t.Fatalf("%d messages, %d registers listed", len(fx.Sends), len(p.listed))
		}
		return s, r, s.by.Get(second)
	}
	s, _, p := named()
	s.keepaliveTo(t, start.Add(lease), second)
	if kept := p.listed[:cap(p.listed)]; len(kept) > 0 && kept[0] != nil {
		t.Error("they are kept after the next keepalive")
	}
	s, r, p := named()
	r.StepDown()
	var fx grid.Effects
	s.SendKeepalives(start.Add(lease-1), nil, &fx)
	if len(p.listed) == 0 {
		t.Error("they are forgotten while the answer matters")
	}
	if s.SendKeepalives(start.Add(lease), nil, &fx); p.listed != nil || len(fx.Sends) > 0 {
		t.Errorf("%d are kept a lease later, and %d messages are sent", len(p.listed), len(fx.Sends))
	}
}

// An answer to a keepalive that was never sent is forged; one to a keepalive of an earlier boot, and a repeated one,
// are ignored.
func TestAnswersThatNobodyAskedFor(t *testing.T) {
	s := newReplicas()
	owned(t, s, 1, second)
	sent := s.keepaliveTo(t, start, second).Register.Seq
	for _, c := range []struct {
		what string
		from grid.NodeID
		seq  uint64
		want KeepaliveAnswer
	}{
		{"of a later number", second, sent + 1, KeepaliveAnswer{Forged: true}},
		{"of another member", third, sent, KeepaliveAnswer{Forged: true}},
		{"of a later boot", second, 2<<40 | 1, KeepaliveAnswer{Forged: true}},
		{"of an earlier boot", second, 7, KeepaliveAnswer{}},
		{"to the keepalive", second, sent, KeepaliveAnswer{Alive: true, Revived: true, Agrees: true}},
		{"repeated", second, sent, KeepaliveAnswer{}},
	} {
		var fx grid.Effects
		if got := s.KeepaliveAnswered(start, c.from,
			&grid.Message{Register: grid.RegisterMessage{Seq: c.seq, Answer: grid.RegisterOK}}, &fx); got != c.want {
			t.Errorf("an answer %s: %+v, want %+v", c.what, got, c.want)
		}
	}
}

// What is known of a member is forgotten when nothing was heard of it for a hundred leases.
func TestMembersAreForgotten(t *testing.T) {
	s := newReplicas()
	s.answeredOwner(start, third)
	var fx grid.Effects
	if s.SendKeepalives(start.Add(100*lease), nil, &fx); len(s.members) != 1 {
		t.Error("it is forgotten too early")
	}
	if s.SendKeepalives(start.Add(100*lease)+1, []grid.NodeID{third}, &fx); len(s.members) != 1 {
		t.Error("it is forgotten though something is kept for it")
	}
	if s.SendKeepalives(start.Add(100*lease)+1, nil, &fx); len(s.members) != 0 || s.by.Len() != 0 {
		t.Error("it is kept")
	}
}

// keepaliveAnswered sends keepalives, and has a node agree to its own.
func (s *Replicas) keepaliveAnswered(t *testing.T, now grid.Time, by grid.NodeID) {
	t.Helper()
	m, fx := s.keepaliveTo(t, now, by), grid.Effects{}
	s.KeepaliveAnswered(now.Add(time.Millisecond), by,
		&grid.Message{Register: grid.RegisterMessage{Seq: m.Register.Seq, Answer: grid.RegisterOK}}, &fx)
}
