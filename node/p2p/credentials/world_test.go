package credentials

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
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
