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
	Began    int64  // wall time in Unix milliseconds at which it began to be a node; 0: it has not yet
	Process  uint32 // its number on its machine
	Host     string // name of the machine, printable, at most maxHost bytes
}

// maxHost bounds the name of a machine in bytes.
const maxHost = 64

const (
	fixedSize     = 8 + 8 + 4
	mostStatement = fixedSize + maxHost + ed25519.SignatureSize
)

// maxBegan bounds the time in a statement: the year 2200.
const maxBegan = 7_258_118_400_000

// sign returns the statement with its signature as the answer to r.
func (s *Statement) sign(key ed25519.PrivateKey, r *request) ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, s.Instance)
	b = binary.BigEndian.AppendUint64(b, uint64(s.Began))
	b = binary.BigEndian.AppendUint32(b, s.Process)
	b = append(b, grid.Clean(s.Host, maxHost)...)
	sig, err := key.Sign(nil, signed(r, b), signContext)
	return append(b, sig...), err
}

// signed returns the bytes that a signature is made over. The operation is left out: a witness does not change what is
// signed.
func signed(r *request, statement []byte) []byte { return append(r.bytes()[1:], statement...) }

var errStatement = errors.New("no statement of an instance")

// readStatement reads what sign wrote, of a node and for r.
func readStatement(node grid.NodeID, r *request, b []byte) (s Statement, err error) {
	n := len(b) - ed25519.SignatureSize
	if n < fixedSize || n > fixedSize+maxHost {
		return s, fmt.Errorf("%w: %d bytes", errStatement, len(b))
	}
	if err := ed25519.VerifyWithOptions(node[:], signed(r, b[:n]), b[n:], signContext); err != nil {
		return s, fmt.Errorf("%w: %w", errStatement, err)
	}
	began := binary.BigEndian.Uint64(b[8:])
	s = Statement{Instance: binary.BigEndian.Uint64(b), Began: int64(began),
		Process: binary.BigEndian.Uint32(b[16:]), Host: string(b[fixedSize:n])}
	if began > maxBegan || s.Instance == 0 || !grid.Printable(s.Host) {
		return Statement{}, fmt.Errorf("%w: out of bounds", errStatement)
	}
	return s, nil
}

// Age returns for how long it has run by this machine's clock, at least 0.
func (s *Statement) Age() time.Duration {
	if s.Began == 0 {
		return 0
	}
	return max(time.Since(time.UnixMilli(s.Began)), 0)
}

// Later reports whether s is the instance that stops where both run: the one that has not begun, or began later. Of two
// that began together it is the one with the larger number. Each compares the same values, so that both come to
// opposite conclusions whatever their clocks show and however long a statement was on its way. If the clocks differ by
// more than the two starts, the one that stops is the other one.
func (s *Statement) Later(other *Statement) bool {
	switch {
	case s.Began == other.Began:
		return s.Instance > other.Instance
	case s.Began == 0 || other.Began == 0:
		return s.Began == 0
	}
	return s.Began > other.Began
}
