package certificate

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"skep/grid"
)

// Key is a public Ed25519 key of 32 bytes: a network's root, or a node.
type Key = grid.NodeID

// Time is a wall time in seconds since 1970, in UTC.
type Time int64

// At returns the time of t.
func At(t time.Time) Time { return Time(t.Unix()) }

// Wall returns t as the standard library has it.
func (t Time) Wall() time.Time { return time.Unix(int64(t), 0).UTC() }

// Add returns the time d after t, in whole seconds.
func (t Time) Add(d time.Duration) Time { return t + Time(d/time.Second) }

// ErrMalformed reports bytes that no encoding begins with.
var ErrMalformed = errors.New("malformed")

type signature [ed25519.SignatureSize]byte

// sign signs a statement in the context of its kind.
func sign(key ed25519.PrivateKey, context string, statement []byte) (s signature) {
	b, err := key.Sign(nil, statement, &ed25519.Options{Context: context})
	if err != nil {
		panic("certificate: Ed25519 does not sign: " + err.Error())
	}
	copy(s[:], b)
	return s
}

// verify reports whether s is a key's signature of a statement in the context of its kind.
func verify(key Key, context string, statement []byte, s signature) bool {
	return ed25519.VerifyWithOptions(key[:], statement, s[:], &ed25519.Options{Context: context}) == nil
}

// reader takes fixed fields from the front of an encoding. After the first one that is not there all are zero.
type reader struct {
	b   []byte
	bad error
}

func (r *reader) fail(format string, args ...any) {
	if r.bad == nil {
		r.bad = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
}

func (r *reader) bytes(dst []byte) {
	if r.bad != nil || len(r.b) < len(dst) {
		r.fail("is cut short")
		return
	}
	r.b = r.b[copy(dst, r.b):]
}

func (r *reader) number(size int) (v uint64) {
	var b [8]byte
	r.bytes(b[8-size:])
	return binary.BigEndian.Uint64(b[:])
}

// time reads a time, which is not before 1970.
func (r *reader) time() Time {
	v := r.number(8)
	if v > 1<<62 {
		r.fail("time %d", v)
		return 0
	}
	return Time(v)
}

func (r *reader) roles() Roles {
	v := Roles(r.number(1))
	if v&^AllRoles != 0 {
		r.fail("roles %#x", uint8(v))
	}
	return v
}

// text reads a name of at most grid.MaxName bytes of printable text.
func (r *reader) text() string {
	b := make([]byte, r.number(1))
	r.bytes(b)
	s := string(b)
	if err := CheckName(s); r.bad == nil && err != nil {
		r.fail("%v", err)
	}
	return s
}

// tag reads the byte that says what follows.
func (r *reader) tag(want byte) {
	if got := byte(r.number(1)); got != want {
		r.fail("begins with %#x: want %#x", got, want)
	}
}

// end returns what was wrong, also if something is left over.
func (r *reader) end(what string) error {
	if r.bad == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	if r.bad != nil {
		return fmt.Errorf("%s: %w", what, r.bad)
	}
	return nil
}

func appendText(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }

func appendTime(dst []byte, t Time) []byte { return binary.BigEndian.AppendUint64(dst, uint64(t)) }

// CheckName returns an error for a name that a member cannot have.
func CheckName(name string) error {
	if name == "" || len(name) > grid.MaxName || !grid.Printable(name) {
		return fmt.Errorf("name %.80q: want 1 to %d bytes of printable text", name, grid.MaxName)
	}
	return nil
}
