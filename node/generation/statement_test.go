package generation

import (
	"crypto/ed25519"
	"testing"
	"time"

	"skep/grid"
)

func key(seed byte) (ed25519.PrivateKey, grid.NodeID) {
	k := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
	return k, grid.NodeID(k.Public().(ed25519.PublicKey))
}

// A node believes what it has signed itself, and nothing else: no other key's word, no changed number, no other length.
func TestOnlyTheNodeItselfSigns(t *testing.T) {
	own, self := key(1)
	foreign, _ := key(2)
	s := Statement{Boot: 7, Instance: 1 << 63, Saved: 12345}
	signed := s.Sign(own)
	if got, ok := Open(self, signed); !ok || got != s || len(signed) != Size {
		t.Fatalf("%+v, %v: want %+v", got, ok, s)
	}
	for i := range signed {
		forged := append([]byte(nil), signed...)
		forged[i] ^= 1
		if _, ok := Open(self, forged); ok {
			t.Fatalf("byte %d changed: still believed", i)
		}
	}
	for name, b := range map[string][]byte{"another key": s.Sign(foreign), "nothing": nil, "cut": signed[:Size-1],
		"longer":          append(signed[:Size:Size], 0),
		"another purpose": append(signed[:24:24], ed25519.Sign(own, signed[:24])...)} {
		if _, ok := Open(self, b); ok {
			t.Errorf("%s: believed", name)
		}
	}
}

// What the folder lacks is told from what it has, from what this process said itself, and from what a copy said while
// this process ran.
func TestCheck(t *testing.T) {
	found := Start{Boot: 7, Instance: 70, Saved: 100}
	for _, c := range []struct {
		name    string
		st      Statement
		age, up time.Duration
		want    Verdict
	}{
		{"nothing was saved since", Statement{6, 60, 100}, time.Hour, time.Second, Earlier},
		{"of long ago", Statement{3, 30, 12}, time.Hour, time.Second, Earlier},
		{"of this process", Statement{7, 70, 150}, time.Minute, time.Hour, Earlier},
		{"of this process, put back in memory since", Statement{7, 70, 151}, time.Hour, time.Minute, PutBack},
		{"so, and heard after the start", Statement{7, 70, 151}, time.Minute, time.Hour, PutBack},
		{"of this process, before it said more", Statement{7, 70, 101}, 0, time.Second, Earlier},
		{"snapshot of a node that ran", Statement{6, 60, 101}, time.Minute, time.Second, PutBack},
		{"backup of a node that was stopped", Statement{7, 71, 101}, time.Minute, time.Second, PutBack},
		{"backup, and what was saved since is fewer", Statement{7, 71, 90}, time.Minute, time.Second, PutBack},
		{"backup of many starts ago", Statement{19, 190, 101}, time.Minute, time.Second, PutBack},
		{"heard as the node started", Statement{6, 60, 101}, 0, 0, PutBack},
		{"found out long after the start", Statement{6, 60, 101}, 2 * time.Hour, time.Hour, PutBack},
		{"so, by a clock that is 5 % slow", Statement{6, 60, 101}, 58 * time.Minute, time.Hour, PutBack},
		{"a copy ran beside this process", Statement{8, 80, 200}, time.Minute, time.Hour, Copied},
		{"so, with as many starts", Statement{7, 71, 200}, time.Minute, time.Hour, Copied},
	} {
		if got := found.Check(c.st, c.age, c.up, 150); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
