package transport

import (
	"encoding/binary"
	"testing"

	"skep/grid"
)

// The members of the newest jobs are known, of each job those that the first and the last of two lists name.
func TestMembers(t *testing.T) {
	var k Members
	a, b, c := grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}
	id := func(n int) (id grid.JobID) {
		binary.BigEndian.PutUint32(id.Nonce[:], uint32(n))
		return id
	}
	k.add(id(0), []grid.NodeID{a, b})
	k.add(id(0), []grid.NodeID{a, b})
	k.add(id(0), []grid.NodeID{c})
	if !k.isMember(id(0), a) || !k.isMember(id(0), b) || !k.isMember(id(0), c) || k.isMember(id(1), a) {
		t.Errorf("members of the first job %v", k.byJob.Get(id(0)))
	}
	for n := range maxCachedMembers {
		k.add(id(n+1), []grid.NodeID{a})
	}
	if k.isMember(id(0), a) || !k.isMember(id(1), a) || !k.isMember(id(maxCachedMembers), a) {
		t.Errorf("%d jobs are known, want the newest %d", k.byJob.Len(), maxCachedMembers)
	}
}

// Who has replaced a member of a job's register, its origin too, may offer attempts of the job and be told of them.
func TestWhoReplacedAMemberIsNoStranger(t *testing.T) {
	origin, b, c, d := grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}, grid.NodeID{4}
	job := grid.JobID{Origin: origin}
	attempts := []grid.AttemptID{{Task: grid.TaskID{Job: job}}}
	var k Members
	set := &grid.Membership{Number: 1, Members: []grid.NodeID{d, b, c}, Extra: origin}
	k.NoteRecord(&grid.Record{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: job,
		Members: []grid.NodeID{origin, b, c}, Set: set}})
	for _, x := range []struct {
		what       string
		m          grid.Message
		from, self grid.NodeID
		want       bool
	}{
		{"an offer of a member, its origin replaced", grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: attempts[0],
			Members: set.Members, Changes: 1}}, b, grid.NodeID{9}, false},
		{"one of who is no member", grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: attempts[0],
			Members: set.Members, Changes: 1}}, grid.NodeID{8}, grid.NodeID{9}, true},
		{"one that names other members than the origin would", grid.Message{Kind: grid.KindOffer,
			Offer: grid.Offer{ID: attempts[0], Members: set.Members}}, b, grid.NodeID{9}, true},
		{"a result for who replaced the origin", grid.Message{Kind: grid.KindResult, Attempts: attempts}, grid.NodeID{9}, d,
			false},
		{"who replaced it acknowledges one", grid.Message{Kind: grid.KindResultAck, Attempts: attempts}, d, b, false},
		{"a stranger does", grid.Message{Kind: grid.KindResultAck, Attempts: attempts}, grid.NodeID{8}, b, true},
		{"a member that was there before", grid.Message{Kind: grid.KindDrop, Attempts: attempts}, c, b, false},
	} {
		if got := foreign(&x.m, x.from, x.self, &k); got != x.want {
			t.Errorf("%s: foreign %t, want %t", x.what, got, x.want)
		}
	}
}
