package credentials

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/node/certificate"
)

// Members that one issuer let in know each other as such without it, and their roles.
func TestMembersMeet(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a, b := w.member(by, "a"), w.member(by, "b")
	w.wantMet(a, b)
	if !a.Has(b.cfg.Self, certificate.Run) || a.Has(b.cfg.Self, certificate.Admin) {
		t.Errorf("roles of b at a: %+v", a.Of(b.cfg.Self))
	}
	if a.Of(b.cfg.Self).Name != "b" {
		t.Errorf("name of b at a: %q", a.Of(b.cfg.Self).Name)
	}
}

// An invite lets one node in, and not another; the issuer remembers that after a restart.
func TestInviteIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	ticket := w.invite(by, "a", 1)
	join := func(name string) *Keeper {
		c := w.config(name)
		c.Ticket = ticket
		return w.open(c)
	}
	a, b := join("a"), join("b")
	var denied error
	b.cfg.Denied = func(err error) { denied = err }
	w.wantMet(a, by)
	again := w.open(by.cfg)
	w.wantRefused(b, again, "used up: 1 of 1")
	if denied == nil {
		t.Error("the node is not told that its invite is used up")
	}
	if a, err := Open(a.cfg); err != nil || a.ticket != nil {
		t.Errorf("a start with an invite that was redeemed: %v", err)
	} else {
		w.wantMet(a, again)
	}
}

func TestInviteExpires(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	c := w.config("late")
	c.Ticket = w.invite(by, "late", 1)
	w.pass(time.Hour + time.Second)
	w.wantRefused(w.open(c), by, "has expired")
}

// The issuer alone redeems an invite; meanwhile the node has nothing to show.
func TestOnlyTheIssuerRedeems(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	other := w.member(by, "other")
	c := w.config("new")
	c.Ticket = w.invite(by, "new", 1)
	k := w.open(c)
	if err, _ := w.meet(k, other); !errors.Is(err, ErrNone) {
		t.Errorf("at another member: %v: want %v", err, ErrNone)
	}
	w.wantMet(k, by)
	w.wantMet(k, other)
}

// The use is on disk before it is answered: an issuer that cannot write lets nobody in.
func TestUseIsOnDiskBeforeTheAnswer(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	c := w.config("new")
	c.Ticket = w.invite(by, "new", 1)
	k := w.open(c)
	if err := os.RemoveAll(by.cfg.Folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(by.cfg.Folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if x, y := w.meet(k, by); x == nil || y == nil || k.Of(k.cfg.Self) != nil {
		t.Errorf("%v, %v: want no certificate", x, y)
	}
}

// Nodes of networks with other roots do not meet, nor does one that has made itself an issuer.
func TestStrangersAreRefused(t *testing.T) {
	w := newWorld(t)
	member := w.member(w.issuer(), "member")
	w.root = ed25519.NewKeyFromSeed([]byte("another root of another network."))
	w.wantRefused(w.issuer(), member, "another network")
}

// A certificate is renewed by its issuer in the second half of its life; without that it ends, and the others cut the
// node off. It is let in again by its issuer alone.
func TestRenewal(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a, b := w.member(by, "a"), w.member(by, "b")
	first := a.Of(a.cfg.Self)
	w.pass(certificate.Life/2 - time.Second)
	w.wantMet(a, by)
	if a.Of(a.cfg.Self) != first {
		t.Error("renewed before half of its life")
	}
	w.pass(time.Second)
	w.wantMet(a, by)
	if got := a.Of(a.cfg.Self); got == first || got.Name != "a" || got.Roles != first.Roles {
		t.Errorf("after half of its life: %+v", got)
	}
	w.wantMet(a, b)
	w.pass(certificate.Life/2 + certificate.Skew + time.Second) // b was not renewed
	if err := a.Stands(b.cfg.Self); !errors.Is(err, certificate.ErrExpired) {
		t.Errorf("a node whose certificate has ended: %v", err)
	}
	w.wantRefused(b, a, "has expired")
	if err := by.issueOwn(); err != nil {
		t.Fatal(err)
	}
	if x, y := w.meet(b, by); x != nil || y != nil {
		t.Errorf("back at the issuer: %v, %v", x, y)
	}
	w.wantMet(b, a)
}

// A revocation reaches whoever meets somebody that knows of it, before the revoked node is let in there.
func TestRevocationSpreads(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a, b, bad := w.member(by, "a"), w.member(by, "b"), w.member(by, "bad")
	w.wantMet(bad, a)
	w.wantMet(bad, b)
	if m, err := by.Revoke("bad"); err != nil || m.Node != bad.cfg.Self {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := by.Stands(bad.cfg.Self); !errors.Is(err, certificate.ErrRevoked) {
		t.Errorf("at the issuer: %v", err)
	}
	w.wantRefused(bad, by, "revoked")
	w.wantMet(a, by) // a hears of it, as the one that connects
	w.wantRefused(bad, a, "revoked")
	b = w.open(b.cfg)
	w.wantMet(b, a) // and b, from a
	w.wantRefused(bad, b, "revoked")
	w.wantRefused(bad, w.open(a.cfg), "revoked")
	w.wantRefused(bad, w.open(by.cfg), "revoked")
}

// Who was put out is told so, has no renewal, and is let in again with a new invite.
func TestNewInviteAfterRevocation(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a, k := w.member(by, "a"), w.member(by, "k")
	if _, err := by.Revoke("k"); err != nil {
		t.Fatal(err)
	}
	w.wantMet(a, by)
	w.pass(certificate.Life * 2 / 3)
	w.wantRefused(k, by, "revoked")
	w.pass(certificate.Life)
	w.wantRefused(k, by, "wants a new invite")
	if err := by.issueOwn(); err != nil {
		t.Fatal(err)
	}
	c := k.cfg
	c.Ticket = w.invite(by, "k", 1)
	k = w.open(c)
	w.wantMet(k, by)
	w.wantMet(a, by)
	w.wantMet(k, a)
	w.pass(certificate.Life * 2 / 3)
	w.wantMet(k, by)
}

// A member that is given the root key is a further issuer, beside the first one.
func TestFurtherIssuer(t *testing.T) {
	w := newWorld(t)
	first := w.issuer()
	a, second := w.member(first, "a"), w.member(first, "second")
	c := second.cfg
	c.Ticket, c.Root = nil, w.root
	second = w.open(c)
	b := w.member(second, "b")
	w.wantMet(a, b)
	w.wantMet(b, first)
	if own := second.Of(second.cfg.Self); own.Issuer.Node != first.cfg.Self {
		t.Error("the further issuer has another certificate as a member")
	}
	w.wantMet(second, a)
	if _, err := second.Revoke("a"); err != nil { // of the other issuer
		t.Fatal(err)
	}
	w.wantMet(first, second)
	w.wantRefused(a, first, "revoked")
	if _, err := first.ledger.Renew(a.cfg.Self); !errors.Is(err, certificate.ErrPutOut) {
		t.Errorf("renewal by the issuer that let it in: %v", err)
	}
}

// The root puts an issuer out: what it issued does not hold, its list is not taken, and those who have that list and
// have not heard of it yet are members as before.
func TestIssuerIsPutOut(t *testing.T) {
	w := newWorld(t)
	by, bad := w.issuer(), w.issuer()
	a, b, of := w.member(by, "a"), w.member(by, "b"), w.member(bad, "of")
	w.wantMet(a, of)
	w.wantMet(a, bad)
	if _, err := bad.Revoke(b.cfg.Self.String()); err == nil {
		t.Error("an issuer puts out a node that it has never met")
	}
	w.wantMet(b, bad)
	if _, err := bad.Revoke("of"); err != nil {
		t.Fatal(err)
	}
	w.wantMet(a, bad) // a has the list of the bad issuer
	out := certificate.Revocation{Node: bad.cfg.Self, Until: by.now()}
	l, err := (&certificate.List{Root: by.root}).Next(out, by.now())
	if err != nil {
		t.Fatal(err)
	}
	l.Sign(w.root)
	if err := b.addLists([]*certificate.List{l}); err != nil {
		t.Fatal(err)
	}
	w.wantMet(a, b)
	w.wantRefused(bad, a, "revoked")
	if b.lists.Of(bad.cfg.Self) != nil {
		t.Error("the list of an issuer that is out was taken")
	}
	w.wantMet(a, by)
}

func TestNoIssuer(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a := w.member(by, "a")
	if _, err := a.Invite("x", certificate.Run, 1, time.Hour); !errors.Is(err, ErrNoIssuer) {
		t.Errorf("an invite by a member: %v", err)
	}
	if _, err := a.Revoke("issuer"); !errors.Is(err, ErrNoIssuer) {
		t.Errorf("a revocation by a member: %v", err)
	}
	for _, ref := range []string{"issuer", "nobody"} {
		if _, err := by.Revoke(ref); err == nil {
			t.Errorf("%s can be put out", ref)
		}
	}
	w.wantMet(a, by)
}

// A folder is in one network, and stays a folder with certificates.
func TestFolders(t *testing.T) {
	w := newWorld(t)
	c := w.config("plain")
	if k, err := Open(c); k != nil || err != nil {
		t.Errorf("a network without certificates: %v, %v", k, err)
	}
	c.New, c.Root = false, w.root
	if _, err := Open(c); err == nil {
		t.Error("a network without certificates takes a root key")
	}
	by := w.issuer()
	c = by.cfg
	c.Root = ed25519.NewKeyFromSeed([]byte("another root of another network."))
	if _, err := Open(c); err == nil {
		t.Error("another root key is no error")
	}
	a := w.member(by, "a")
	if err := os.Remove(filepath.Join(a.cfg.Folder, ownFile)); err != nil {
		t.Fatal(err)
	}
	c = a.cfg
	c.Ticket = nil
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "want an invite") {
		t.Errorf("without its certificate: %v", err)
	}
}
