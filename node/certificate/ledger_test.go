package certificate

import (
	"errors"
	"testing"
	"time"
)

var ticket = [SecretSize]byte{1, 2, 3}

// ledger returns one with an invite that lasts an hour.
func ledger(t *testing.T, uses uint16) *Ledger {
	l := new(Ledger)
	v := &Invite{Serial: 5, Name: "laptop", Roles: Submit, Uses: uses, Until: noon.Add(time.Hour)}
	v.Hash = HashSecret(ticket)
	if err := l.Invite(v, noon); err != nil {
		t.Fatal(err)
	}
	return l
}

// An invite lets in as many nodes as it says, each once, until it ends.
func TestRedeem(t *testing.T) {
	l := ledger(t, 2)
	_, a := key(1)
	_, b := key(2)
	_, c := key(3)
	redeem := func(node Key, serial uint64, secret [SecretSize]byte, now Time) (string, error) {
		m, err := l.Redeem(node, serial, secret, now)
		if err != nil {
			return "", err
		}
		if m.Node != node || m.Roles != Submit {
			t.Errorf("%+v: want node %v with the invite's roles", m, node)
		}
		return m.Name, nil
	}
	for i, test := range []struct {
		node   Key
		serial uint64
		secret [SecretSize]byte
		now    Time
		name   string
		want   error
	}{
		{a, 6, ticket, noon, "", ErrUnknownInvite},
		{a, 5, [SecretSize]byte{1}, noon, "", ErrUnknownInvite},
		{a, 5, ticket, noon, "laptop", nil},
		{a, 5, ticket, noon, "laptop", nil}, // its answer was lost
		{b, 5, ticket, noon.Add(time.Hour) + 1, "", ErrExpired},
		{b, 5, ticket, noon.Add(time.Hour), "laptop-2", nil},
		{c, 5, ticket, noon, "", ErrUsed},
		{a, 5, ticket, noon.Add(2 * time.Hour), "laptop", nil},
	} {
		name, err := redeem(test.node, test.serial, test.secret, test.now)
		if name != test.name || !errors.Is(err, test.want) {
			t.Errorf("%d: %q, %v: want %q, %v", i, name, err, test.name, test.want)
		}
	}
}

// Who is put out gets no certificate: not by renewal, and not by the invite that it has redeemed.
func TestPutOut(t *testing.T) {
	l := ledger(t, 2)
	_, a := key(1)
	if _, err := l.Renew(a); !errors.Is(err, ErrUnknownNode) {
		t.Errorf("of a node that was not let in: %v", err)
	}
	if _, err := l.Redeem(a, 5, ticket, noon); err != nil {
		t.Fatal(err)
	}
	if m, err := l.Renew(a); err != nil || m.Name != "laptop" {
		t.Errorf("%+v, %v", m, err)
	}
	if !l.PutOut(Revocation{a, noon}) || l.PutOut(Revocation{a, noon}) {
		t.Error("put out: want a change, once")
	}
	if _, err := l.Renew(a); !errors.Is(err, ErrPutOut) {
		t.Errorf("renewal of a node that is out: %v", err)
	}
	if _, err := l.Redeem(a, 5, ticket, noon); !errors.Is(err, ErrPutOut) {
		t.Errorf("the same invite by a node that is out: %v", err)
	}
	again := &Invite{Serial: 8, Name: "laptop", Roles: Run, Uses: 1, Until: noon.Add(time.Hour), Hash: HashSecret(ticket)}
	l.Invites = nil
	if err := l.Invite(again, noon); err != nil {
		t.Fatal(err)
	}
	if m, err := l.Redeem(a, 8, ticket, noon); err != nil || m.Roles != Run || m.OutAt != noon {
		t.Errorf("a new invite: %+v, %v", m, err)
	}
}

func TestNamesAreUnique(t *testing.T) {
	l := ledger(t, 1)
	v := &Invite{Serial: 6, Name: "laptop", Uses: 1, Until: noon.Add(time.Hour)}
	if err := l.Invite(v, noon); err == nil {
		t.Error("the name of an open invite is no error")
	}
	if err := l.Invite(v, noon.Add(2*time.Hour)); err != nil {
		t.Errorf("the name of an invite that has ended: %v", err)
	}
	_, a := key(1)
	if _, err := l.Redeem(a, 5, ticket, noon); err != nil {
		t.Fatal(err)
	}
	if err := l.Invite(v, noon.Add(48*time.Hour)); err == nil {
		t.Error("the name of a member is no error")
	}
}

func TestLedgerIsBounded(t *testing.T) {
	l := new(Ledger)
	name := func(i int) string { return string(rune('a'+i%26)) + string(rune('a'+i/26)) }
	for i := range MaxInvites {
		if err := l.Invite(&Invite{Name: name(i), Uses: 1, Until: noon}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Invite(&Invite{Name: "more", Uses: 1, Until: noon}, noon); err == nil {
		t.Error("an invite beyond the bound is no error")
	}
	if err := l.Invite(&Invite{Name: "more", Uses: 1, Until: noon}, noon.Add(keepInvites)+1); err != nil {
		t.Errorf("after the others are forgotten: %v", err)
	}
}
