package certificate

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

// list returns the issuer's list, or the root's, with one node on it.
func (n *network) list(number uint64, node Key, until Time, byRoot bool) *List {
	l := &List{Root: n.root, Number: number - 1}
	k := n.rootKey
	if !byRoot {
		by := n.by
		l.Issuer, k = &by, n.issuerKey
	}
	l, err := l.Next(Revocation{Node: node, Until: until}, until)
	if err != nil {
		panic(err)
	}
	l.Sign(k)
	return l
}

func add(t *testing.T, s *Lists, n *network, l *List, want bool) {
	t.Helper()
	l, err := DecodeList(l.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if newer, err := s.Add(n.root, l); err != nil || newer != want {
		t.Errorf("list %d: newer %v, %v: want %v", l.Number, newer, err, want)
	}
}

// Who is revoked is out, and in again with a certificate that was issued afterwards.
func TestRevokedUntilIssuedAnew(t *testing.T) {
	n, s := newNetwork(), new(Lists)
	if err := s.Revoked(n.chain()); err != nil {
		t.Error(err)
	}
	add(t, s, n, n.list(1, n.member, noon, false), true)
	if err := s.Revoked(n.chain()); !errors.Is(err, ErrRevoked) {
		t.Errorf("a revoked certificate: %v", err)
	}
	c := NewChain(n.issuerKey, &n.by, &Member{Node: n.member, Name: "laptop", Roles: Run,
		Window: Window{From: s.RevokedUntil(n.member) + 1, Until: noon.Add(Life)}})
	if err := s.Revoked(c); err != nil {
		t.Errorf("a certificate of afterwards: %v", err)
	}
}

// The highest number counts, whatever order lists come in.
func TestNewestListCounts(t *testing.T) {
	n, s := newNetwork(), new(Lists)
	_, other := key(4)
	add(t, s, n, n.list(2, n.member, noon, false), true)
	add(t, s, n, n.list(1, other, noon, false), false)
	add(t, s, n, n.list(2, other, noon, false), false)
	if err := s.Revoked(n.chain()); !errors.Is(err, ErrRevoked) {
		t.Errorf("after an older list: %v", err)
	}
	if got := s.Newer(nil); len(got) != 1 {
		t.Errorf("%d lists for somebody who knows none: want 1", len(got))
	}
	if got := s.Newer(s.Versions()); len(got) != 0 {
		t.Errorf("%d lists for somebody who knows all: want none", len(got))
	}
}

// A list is believed of the root and of its issuers alone.
func TestForgedLists(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(n *network) *List
		want error
	}{
		{"signed by a member", func(n *network) *List {
			n.issuerKey = n.memberKey
			return n.list(1, n.issuer, noon, false)
		}, ErrForged},
		{"root's, signed by an issuer", func(n *network) *List {
			n.rootKey = n.issuerKey
			return n.list(1, n.member, noon, true)
		}, ErrForged},
		{"issuer made by itself", func(n *network) *List {
			n.by.Sign(n.issuerKey)
			return n.list(1, n.member, noon, false)
		}, ErrForged},
		{"of another network", func(n *network) *List {
			n.rootKey, n.root = key(9)
			defer func() { n.rootKey, n.root = key(1) }()
			return n.list(1, n.member, noon, true)
		}, ErrNetwork},
		{"another number than signed", func(n *network) *List {
			l := n.list(1, n.member, noon, true)
			l.Number++
			return l
		}, ErrForged},
	} {
		n := newNetwork()
		if _, err := new(Lists).Add(n.root, test.make(n)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v: want %v", test.name, err, test.want)
		}
	}
}

// The root puts an issuer out, with all that it has issued; issuers do not.
func TestIssuerRevoked(t *testing.T) {
	n, s := newNetwork(), new(Lists)
	own := NewChain(n.issuerKey, &n.by, &Member{Node: n.issuer, Name: "issuer", Roles: Run,
		Window: Window{From: noon, Until: noon.Add(Life)}})
	add(t, s, n, n.list(1, n.issuer, noon, false), true)
	if err := s.Revoked(own); err != nil {
		t.Errorf("an issuer put out by an issuer: %v", err)
	}
	add(t, s, n, n.list(1, n.issuer, noon, true), true)
	for _, c := range []*Chain{own, n.chain()} {
		if err := s.Revoked(c); !errors.Is(err, ErrRevoked) {
			t.Errorf("certificate of %s by an issuer that is out: %v", c.Name, err)
		}
	}
	if _, err := s.Add(n.root, n.list(5, n.member, noon, false)); !errors.Is(err, ErrRevoked) {
		t.Errorf("list of an issuer that is out: %v", err)
	}
}

// A list has room for MaxRevoked nodes, and entries leave it when no certificate can fall under them.
func TestListIsBounded(t *testing.T) {
	n := newNetwork()
	l := &List{Root: n.root, Issuer: &n.by}
	node := func(i int) (k Key) { binary.BigEndian.PutUint32(k[:], uint32(i)); return k }
	var err error
	for i := range MaxRevoked {
		if l, err = l.Next(Revocation{node(i), noon}, noon); err != nil {
			t.Fatal(err)
		}
	}
	l.Sign(n.issuerKey)
	if b := l.Append(nil); len(b) > MaxList {
		t.Errorf("%d bytes: want at most %d", len(b), MaxList)
	} else if _, err := DecodeList(b); err != nil {
		t.Error(err)
	}
	if _, err := l.Next(Revocation{node(MaxRevoked), noon}, noon); !errors.Is(err, ErrFull) {
		t.Errorf("one node more: %v", err)
	}
	later := noon.Add(MaxLife + 2*Skew)
	if l, err = l.Next(Revocation{n.member, later}, later); err != nil || len(l.Revoked) != 1 {
		t.Errorf("%d nodes, %v: want those of before to have left", len(l.Revoked), err)
	}
}

func TestSignersAreBounded(t *testing.T) {
	n, s := newNetwork(), new(Lists)
	for i := range MaxSigners + 1 {
		n.issuerKey, n.by.Node = key(byte(20 + i))
		n.by.Sign(n.rootKey)
		_, err := s.Add(n.root, n.list(1, n.member, noon, false))
		if full := err != nil; full != (i == MaxSigners) {
			t.Errorf("signer %d: %v", i, err)
		}
	}
	if newer, err := s.Add(n.root, n.list(1, n.member, noon.Add(time.Hour), true)); err != nil || !newer {
		t.Errorf("the root's list: %v", err)
	}
}
