package credentials

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skep/grid"
	"skep/node/certificate"
)

// world is a network with certificates, its root key, and a clock for all.
type world struct {
	t    *testing.T
	root ed25519.PrivateKey
	now  atomic.Int64
	keys byte
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, root: ed25519.NewKeyFromSeed(make([]byte, 32))}
	w.now.Store(1_800_000_000)
	return w
}

func (w *world) pass(d time.Duration) { w.now.Add(int64(d / time.Second)) }

// config is that of a new node.
func (w *world) config(name string) Config {
	w.keys++
	seed := make([]byte, 32)
	seed[0] = w.keys
	key := ed25519.NewKeyFromSeed(seed)
	return Config{Folder: w.t.TempDir(), Self: grid.NodeID(key.Public().(ed25519.PublicKey)), Name: name, Key: key,
		New: true, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(w.now.Load(), 0) }}
}

func (w *world) open(c Config) *Keeper {
	w.t.Helper()
	k, err := Open(c)
	if err != nil || k == nil {
		w.t.Fatalf("keeper %v, %v", k, err)
	}
	return k
}

// issuer opens a node that has the root key.
func (w *world) issuer() *Keeper {
	c := w.config("issuer")
	c.Root = w.root
	return w.open(c)
}

// invite makes an invite that lasts an hour.
func (w *world) invite(by *Keeper, name string, uses int) *Ticket {
	w.t.Helper()
	t, err := by.Invite(name, certificate.Run|certificate.Submit, uses, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	t.Text = "an invite"
	return t
}

// member opens a node that the issuer lets in.
func (w *world) member(by *Keeper, name string) *Keeper {
	w.t.Helper()
	c := w.config(name)
	c.Ticket = w.invite(by, name, 1)
	k := w.open(c)
	if a, b := w.meet(k, by); a != nil || b != nil {
		w.t.Fatalf("%s is not let in: %v, %v", name, a, b)
	}
	return k
}

// meet has a connect to b, and returns what each finds.
func (w *world) meet(a, b *Keeper) (ofA, ofB error) {
	x, y := net.Pipe()
	deadline := time.Now().Add(20 * time.Second)
	x.SetDeadline(deadline)
	y.SetDeadline(deadline)
	done := make(chan error)
	go func() {
		err := b.Respond(y, a.cfg.Self)
		y.Close()
		done <- err
	}()
	ofA = a.Initiate(x, b.cfg.Self)
	x.Close()
	return ofA, <-done
}

// wantMet checks that two nodes let each other in, whoever connects.
func (w *world) wantMet(a, b *Keeper) {
	w.t.Helper()
	for range 2 {
		if x, y := w.meet(a, b); x != nil || y != nil {
			w.t.Errorf("%s and %s: %v, %v: want both let in", a.cfg.Name, b.cfg.Name, x, y)
		}
		a, b = b, a
	}
}

// wantRefused checks that b does not let a in, whoever connects, and for what reason if it is a.
func (w *world) wantRefused(a, b *Keeper, reason string) {
	w.t.Helper()
	x, y := w.meet(a, b)
	if x == nil || y == nil || !strings.Contains(errors.Join(x, y).Error(), reason) {
		w.t.Errorf("%s to %s: %v, %v: want %q", a.cfg.Name, b.cfg.Name, x, y, reason)
	}
	if x, y = w.meet(b, a); x == nil {
		w.t.Errorf("%s to %s: %v, %v: want both to refuse", b.cfg.Name, a.cfg.Name, x, y)
	}
}

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

// What a stranger sends is bounded, and whatever it is, no panic.
func FuzzRespond(f *testing.F) {
	w := newWorld(new(testing.T))
	f.Add([]byte{0, 1, wantRenew})
	f.Add(append([]byte{0, redeemSize, wantRedeem}, make([]byte, redeemSize-1)...))
	f.Add([]byte{16, 1, wantMember})
	f.Fuzz(func(t *testing.T, b []byte) {
		w.t = t
		by := w.issuer()
		x, y := net.Pipe()
		go func() {
			x.Write(b)
			x.Close()
		}()
		y.SetDeadline(time.Now().Add(time.Second))
		if err := by.Respond(y, grid.NodeID{1}); err == nil {
			t.Error("a stranger is let in")
		}
		y.Close()
	})
}
