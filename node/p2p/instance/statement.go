package instance

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"skep/grid"
)

// signContext separates the signatures of statements from those of ads and specs.
var signContext = &ed25519.Options{Context: "skep instance"}

// challenge is drawn by the instance that asks, so that no older statement answers it.
type challenge [32]byte

// request is what one instance asks a witness, and the witness another instance.
type request struct {
	op        byte
	challenge challenge
	asker     uint64 // instance that drew the challenge
}

const (
	opFind  byte = 1 // to a witness: find another instance of me and have it prove itself
	opProve byte = 2 // from a witness: prove that you live

	requestSize = 1 + len(challenge{}) + 8
)

func (r *request) bytes() []byte {
	b := append(make([]byte, 0, requestSize), r.op)
	return binary.BigEndian.AppendUint64(append(b, r.challenge[:]...), r.asker)
}

func readRequest(b []byte) (r request, ok bool) {
	if len(b) != requestSize || b[0] != opFind && b[0] != opProve {
		return r, false
	}
	r.op, r.asker = b[0], binary.BigEndian.Uint64(b[1+len(r.challenge):])
	copy(r.challenge[:], b[1:])
	return r, r.asker != 0
}

// Statement is what an instance says of itself.
type Statement struct {
	Instance uint64
	Standing Standing
	Age      time.Duration // for how long it had had its standing when it signed, in whole milliseconds
	sealed   []byte        // its Process
}

const (
	statementSize = 8 + 1 + 8 + sealedSize
	signedSize    = statementSize + ed25519.SignatureSize
)

// maxAge bounds the age in a statement.
const maxAge = 200 * 365 * 24 * time.Hour

// sign returns the statement with its signature as the answer to r.
func (s *Statement) sign(key ed25519.PrivateKey, r *request) ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, s.Instance)
	b = append(b, byte(s.Standing))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Age/time.Millisecond))
	b = append(b, s.sealed...)
	sig, err := key.Sign(nil, signed(r, b), signContext)
	return append(b, sig...), err
}

// signed returns the bytes that a signature is made over. The operation is left out: a witness does not change what is
// signed.
func signed(r *request, statement []byte) []byte { return append(r.bytes()[1:], statement...) }

var errStatement = errors.New("no statement of an instance")

// readStatement reads what sign wrote, of a node and for r.
func readStatement(node grid.NodeID, r *request, b []byte) (s Statement, err error) {
	if len(b) != signedSize {
		return s, fmt.Errorf("%w: %d bytes", errStatement, len(b))
	}
	b, sig := b[:statementSize], b[statementSize:]
	if err := ed25519.VerifyWithOptions(node[:], signed(r, b), sig, signContext); err != nil {
		return s, fmt.Errorf("%w: %w", errStatement, err)
	}
	age := binary.BigEndian.Uint64(b[9:])
	s = Statement{Instance: binary.BigEndian.Uint64(b), Standing: Standing(b[8]), sealed: b[17:]}
	if s.Instance == 0 || s.Standing > Joined || age > uint64(maxAge/time.Millisecond) {
		return Statement{}, fmt.Errorf("%w: out of bounds", errStatement)
	}
	s.Age = time.Duration(age) * time.Millisecond
	return s, nil
}
