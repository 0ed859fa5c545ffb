package certificate

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"
)

// key returns a private key and its public one.
func key(n byte) (ed25519.PrivateKey, Key) {
	k := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
	return k, Key(k.Public().(ed25519.PublicKey))
}

// noon is the time of the tests.
const noon Time = 1_800_000_000

// network is a root and an issuer of it, and a member that it let in at noon.
type network struct {
	rootKey, issuerKey, memberKey ed25519.PrivateKey
	root, issuer, member          Key
	by                            Issuer
}

func newNetwork() *network {
	n := new(network)
	n.rootKey, n.root = key(1)
	n.issuerKey, n.issuer = key(2)
	n.memberKey, n.member = key(3)
	n.by = Issuer{Root: n.root, Node: n.issuer, Roles: Run | Submit, Serial: 7,
		Window: Window{From: noon, Until: noon.Add(1000 * time.Hour)}}
	n.by.Sign(n.rootKey)
	return n
}

func (n *network) chain() *Chain {
	return NewChain(n.issuerKey, &n.by, &Member{Node: n.member, Name: "laptop", Roles: Run, Serial: 9,
		Window: Window{From: noon, Until: noon.Add(Life)}})
}

// A member is whoever the root lets an issuer let in, and nobody else.
func TestChain(t *testing.T) {
	otherKey, other := key(4)
	tests := []struct {
		name string
		now  Time
		make func(n *network) *Chain
		want error
	}{
		{"right", noon, (*network).chain, nil},
		{"clock 10 min behind", noon.Add(-Skew), (*network).chain, nil},
		{"clock 10 min ahead", noon.Add(Life + Skew), (*network).chain, nil},
		{"too early", noon.Add(-Skew - time.Second), (*network).chain, ErrEarly},
		{"expired", noon.Add(Life + Skew + time.Second), (*network).chain, ErrExpired},
		{"issuer expired", noon.Add(1000*time.Hour + Skew + time.Second), func(n *network) *Chain {
			return NewChain(n.issuerKey, &n.by, &Member{Node: n.member, Name: "x", Roles: Run,
				Window: Window{From: noon.Add(1000 * time.Hour), Until: noon.Add(1001 * time.Hour)}})
		}, ErrExpired},
		{"another network", noon, func(n *network) *Chain {
			n.by.Root = other
			n.by.Sign(otherKey)
			return n.chain()
		}, ErrNetwork},
		{"issuer made by itself", noon, func(n *network) *Chain {
			n.by.Sign(n.issuerKey)
			return n.chain()
		}, ErrForged},
		{"issuer with more roles than signed", noon, func(n *network) *Chain {
			n.by.Roles |= Admin
			return n.chain()
		}, ErrForged},
		{"certificate made by the member", noon, func(n *network) *Chain {
			n.issuerKey = n.memberKey
			return n.chain()
		}, ErrForged},
		{"certificate with another name", noon, func(n *network) *Chain {
			c := n.chain()
			c.Name = "root"
			return c
		}, ErrForged},
		{"certificate with more roles than signed", noon, func(n *network) *Chain {
			c := n.chain()
			c.Roles |= Submit
			return c
		}, ErrForged},
		{"certificate with a later end", noon, func(n *network) *Chain {
			c := n.chain()
			c.Until++
			return c
		}, ErrForged},
		{"roles that the issuer cannot give", noon, func(n *network) *Chain {
			return NewChain(n.issuerKey, &n.by, &Member{Node: n.member, Name: "x", Roles: Admin,
				Window: Window{From: noon, Until: noon.Add(Life)}})
		}, ErrRoles},
		{"lasts too long", noon, func(n *network) *Chain {
			return NewChain(n.issuerKey, &n.by, &Member{Node: n.member, Name: "x", Roles: Run,
				Window: Window{From: noon, Until: noon.Add(MaxLife) + 1}})
		}, ErrLife},
		{"that of another node", noon, func(n *network) *Chain {
			c := n.chain()
			n.member = other
			return c
		}, ErrNode},
		{"issued under another root's issuer", noon, func(n *network) *Chain {
			by := n.by
			n.by.Root = other
			n.by.Sign(otherKey)
			c := n.chain()
			c.Issuer = by
			return c
		}, ErrForged},
	}
	for _, test := range tests {
		n := newNetwork()
		c := test.make(n)
		got, err := DecodeChain(c.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if err := got.Check(n.root, n.member, test.now); !errors.Is(err, test.want) {
			t.Errorf("%s: %v: want %v", test.name, err, test.want)
		}
	}
}

// A signature of one kind is none of another, though nodes sign both with one key.
func TestContexts(t *testing.T) {
	n := newNetwork()
	c := n.chain()
	c.signature = sign(n.issuerKey, inviteContext, c.statement(nil))
	if err := c.Check(n.root, n.member, noon); !errors.Is(err, ErrForged) {
		t.Errorf("a certificate signed as an invite: %v", err)
	}
}

func TestInvite(t *testing.T) {
	n := newNetwork()
	secret := [SecretSize]byte{5}
	v := &Invite{Root: n.root, Issuer: n.issuer, Serial: 3, Name: "laptop", Roles: Submit, Uses: 2,
		Until: noon.Add(time.Hour), Hash: HashSecret(secret)}
	v.Sign(n.issuerKey)
	got, err := DecodeInvite(v.Append(nil))
	if err != nil || *got != *v {
		t.Fatalf("%+v, %v: want %+v", got, err, v)
	}
	if err := got.Check(secret); err != nil {
		t.Error(err)
	}
	if err := got.Check([SecretSize]byte{6}); !errors.Is(err, ErrSecret) {
		t.Errorf("another secret: %v", err)
	}
	if err := got.Expired(noon.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if err := got.Expired(noon.Add(time.Hour) + 1); !errors.Is(err, ErrExpired) {
		t.Errorf("after its end: %v", err)
	}
	got.Roles |= Admin
	if err := got.Check(secret); !errors.Is(err, ErrForged) {
		t.Errorf("with more roles than signed: %v", err)
	}
}

func TestRoles(t *testing.T) {
	r, err := ParseRoles([]string{"relay", "run"})
	if err != nil || r != Run|Relay || r.String() != "run,relay" {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := ParseRoles([]string{"boss"}); err == nil {
		t.Error("a role that there is not is no error")
	}
}
