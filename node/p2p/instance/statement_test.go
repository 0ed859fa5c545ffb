package instance

import (
	"bytes"
	"crypto/ed25519"
	"reflect"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func keyOf(b byte) (ed25519.PrivateKey, grid.NodeID) {
	key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), b))
	return key, grid.NodeID(key.Public().(ed25519.PublicKey))
}

// A statement answers one challenge of one asker, and only the holder of the key can make it.
func TestStatementIsBoundToItsChallenge(t *testing.T) {
	key, self := keyOf(1)
	stranger, _ := keyOf(2)
	r := request{op: opFind, challenge: challenge{1, 2}, asker: 7}
	where := Process{4711, "lab3"}
	want := sealedStatement(t, key, Statement{Instance: 9, Standing: Joined, Age: 90 * time.Minute}, where)
	b, err := want.sign(key, &r)
	if err != nil {
		t.Fatal(err)
	}
	forwarded := r
	forwarded.op = opProve
	if got, err := readStatement(self, &forwarded, b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	} else if at := unseal(key, got.sealed); at != where {
		t.Errorf("process %+v: want %+v", at, where)
	}
	other, another := r, r
	other.challenge[31]++
	another.asker++
	forged, err := want.sign(stranger, &r)
	if err != nil {
		t.Fatal(err)
	}
	altered := append([]byte(nil), b...)
	altered[16]++ // its age
	for name, c := range map[string]struct {
		r *request
		b []byte
	}{
		"another challenge": {&other, b}, "another asker": {&another, b}, "another key": {&r, forged},
		"altered": {&r, altered}, "cut": {&r, b[:len(b)-1]}, "nothing": {&r, nil},
		"long": {&r, append(make([]byte, maxHost), b...)},
	} {
		if got, err := readStatement(self, c.r, c.b); err == nil || got.Instance != 0 {
			t.Errorf("%s: %+v, %v: want an error", name, got, err)
		}
	}
}

// sealedStatement returns a statement of an instance that runs somewhere.
func sealedStatement(t *testing.T, key ed25519.PrivateKey, s Statement, at Process) Statement {
	t.Helper()
	var err error
	if s.sealed, err = at.seal(key); err != nil {
		t.Fatal(err)
	}
	return s
}

// What a copy with the key signs is bounded too.
func TestStatementsOutOfBounds(t *testing.T) {
	key, self := keyOf(1)
	r := request{op: opFind, asker: 7}
	for name, s := range map[string]Statement{"no instance": {Age: 1},
		"old":      {Instance: 1, Age: maxAge + time.Millisecond},
		"negative": {Instance: 1, Age: -time.Millisecond}, "standing": {Instance: 1, Standing: Joined + 1}} {
		s = sealedStatement(t, key, s, Process{})
		b, err := s.sign(key, &r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readStatement(self, &r, b); err == nil {
			t.Errorf("%s: %+v: want an error", name, got)
		}
	}
}

// A witness, which forwards statements, does not learn where an instance runs, nor how long the host's name is.
func TestOnlyCopiesReadWhereTheyRun(t *testing.T) {
	key, _ := keyOf(1)
	stranger, _ := keyOf(2)
	r := request{op: opFind, asker: 7}
	var size int
	for _, host := range []string{"", "lab3", "accounting-of-the-firm", "a\x1b[2J" + strings.Repeat("x", 100)} {
		s := sealedStatement(t, key, Statement{Instance: 9}, Process{4711, host})
		b, err := s.sign(key, &r)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			size = len(b)
		}
		if len(b) != size || len(host) > 0 && bytes.Contains(b, []byte(host)) {
			t.Errorf("host %q can be told from %d bytes", host, len(b))
		}
		if got := unseal(stranger, s.sealed); got != (Process{}) {
			t.Errorf("another key reads %+v", got)
		}
		got := unseal(key, s.sealed)
		if got.Number != 4711 || got.Host != grid.Clean(host, maxHost) || !grid.Printable(got.Host) {
			t.Errorf("host %q is read as %+v: want it cleaned and cut", host, got)
		}
	}
	if got := unseal(key, make([]byte, sealedSize)); got != (Process{}) {
		t.Errorf("what nobody sealed is read as %+v", got)
	}
}

func TestRequest(t *testing.T) {
	want := request{op: opProve, challenge: challenge{3: 1}, asker: 1 << 60}
	if got, ok := readRequest(want.bytes()); !ok || got != want {
		t.Errorf("%+v, %v: want %+v", got, ok, want)
	}
	for _, r := range []request{{op: opFind}, {op: 3, asker: 1}, {asker: 1}} {
		if _, ok := readRequest(r.bytes()); ok {
			t.Errorf("%+v is accepted", r)
		}
	}
	if _, ok := readRequest(make([]byte, 3)); ok {
		t.Error("3 bytes are accepted")
	}
}
