package instance

import (
	"crypto/ed25519"
	"strings"
	"testing"

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
	want := Statement{Instance: 9, Began: 1_800_000_000_000, Process: 4711, Host: "lab3"}
	b, err := want.sign(key, &r)
	if err != nil {
		t.Fatal(err)
	}
	forwarded := r
	forwarded.op = opProve
	if got, err := readStatement(self, &forwarded, b); err != nil || got != want {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	}
	other, another := r, r
	other.challenge[31]++
	another.asker++
	forged, err := want.sign(stranger, &r)
	if err != nil {
		t.Fatal(err)
	}
	altered := append([]byte(nil), b...)
	altered[15]++ // when it began
	for name, c := range map[string]struct {
		r *request
		b []byte
	}{
		"another challenge": {&other, b}, "another asker": {&another, b}, "another key": {&r, forged},
		"altered": {&r, altered}, "cut": {&r, b[:len(b)-1]}, "nothing": {&r, nil},
		"long": {&r, append(make([]byte, maxHost), b...)},
	} {
		if got, err := readStatement(self, c.r, c.b); err == nil || got != (Statement{}) {
			t.Errorf("%s: %+v, %v: want an error", name, got, err)
		}
	}
}

// What a copy with the key signs is bounded too: it is shown to people.
func TestStatementsOutOfBounds(t *testing.T) {
	key, self := keyOf(1)
	r := request{op: opFind, asker: 7}
	for name, s := range map[string]Statement{"no instance": {Began: 1}, "late": {Instance: 1, Began: maxBegan + 1},
		"negative": {Instance: 1, Began: -1}} {
		b, err := s.sign(key, &r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readStatement(self, &r, b); err == nil {
			t.Errorf("%s: %+v: want an error", name, got)
		}
	}
	s := Statement{Instance: 1, Host: "a\x1b[2J" + strings.Repeat("x", 100)}
	b, err := s.sign(key, &r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readStatement(self, &r, b); err != nil || len(got.Host) > maxHost || !grid.Printable(got.Host) {
		t.Errorf("host %q, %v: want it cleaned and cut", got.Host, err)
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

// Whatever their numbers, one of two instances is the later one.
func TestOneOfTwoIsLater(t *testing.T) {
	for _, row := range []struct {
		a, b  int64 // when they began
		later string
	}{{5, 5, "larger"}, {5, 6, "b"}, {6, 5, "a"}, {0, 5, "a"}, {5, 0, "b"}, {0, 0, "larger"}} {
		for _, numbers := range [][2]uint64{{1, 2}, {2, 1}} {
			a, b := Statement{Instance: numbers[0], Began: row.a}, Statement{Instance: numbers[1], Began: row.b}
			want := row.later == "a" || row.later == "larger" && numbers[0] > numbers[1]
			if a.Later(&b) != want || b.Later(&a) == want {
				t.Errorf("%+v and %+v: later %v and %v: want that exactly one is, %s", a, b, a.Later(&b), b.Later(&a),
					row.later)
			}
		}
	}
}
