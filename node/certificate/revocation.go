package certificate

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const (
	tagList     = 4
	listContext = "skep certificate revocations 1"

	// MaxRevoked bounds the nodes on a list: those put out within the last MaxLife.
	MaxRevoked = 256

	// MaxList bounds the encoding of a list in bytes.
	MaxList = 1 + 1 + 32 + issuerSize + 8 + 2 + MaxRevoked*(32+8) + ed25519.SignatureSize
)

// Revocation puts a node out: its certificates that begin at Until or before do not hold any more, and, of an issuer,
// what it issued with such a one neither.
type Revocation struct {
	Node  Key
	Until Time
}

// List is all that a signer revokes: the root, or an issuer with its certificate. The root alone revokes issuers. The
// list with the highest number counts; its entries are sorted by node, each node once.
type List struct {
	Root    Key
	Issuer  *Issuer // nil: the root signs
	Number  uint64
	Revoked []Revocation

	signature signature
}

// ErrFull reports a list on which nobody else has room.
var ErrFull = errors.New("the revocation list is full")

// Signer returns the key that signs the list.
func (l *List) Signer() Key {
	if l.Issuer != nil {
		return l.Issuer.Node
	}
	return l.Root
}

// Next returns the list that follows l with a node added, unsigned. Entries that no certificate can fall under any more
// are left out. It returns ErrFull where there is no room.
func (l *List) Next(add Revocation, now Time) (*List, error) {
	next := &List{Root: l.Root, Issuer: l.Issuer, Number: l.Number + 1}
	for _, r := range l.Revoked {
		if r.Node != add.Node && (l.Issuer == nil || now < r.Until.Add(MaxLife+2*Skew)) {
			next.Revoked = append(next.Revoked, r)
		}
	}
	if len(next.Revoked) >= MaxRevoked {
		return nil, fmt.Errorf("%w: %d nodes were put out within %v", ErrFull, len(next.Revoked), MaxLife)
	}
	i, _ := slices.BinarySearchFunc(next.Revoked, add, compareRevoked)
	next.Revoked = slices.Insert(next.Revoked, i, add)
	return next, nil
}

func compareRevoked(a, b Revocation) int { return bytes.Compare(a.Node[:], b.Node[:]) }

// Sign signs with the key of Signer.
func (l *List) Sign(key ed25519.PrivateKey) { l.signature = sign(key, listContext, l.statement(nil)) }

func (l *List) statement(dst []byte) []byte {
	dst = append(append(dst, tagList), l.Root[:]...)
	if l.Issuer == nil {
		dst = append(dst, 0)
	} else {
		dst = l.Issuer.Append(append(dst, 1))
	}
	dst = binary.BigEndian.AppendUint64(dst, l.Number)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(l.Revoked)))
	for _, r := range l.Revoked {
		dst = appendTime(append(dst, r.Node[:]...), r.Until)
	}
	return dst
}

// Append appends the encoding, of at most MaxList bytes.
func (l *List) Append(dst []byte) []byte { return append(l.statement(dst), l.signature[:]...) }

// DecodeList reads what Append wrote. It checks no signature.
func DecodeList(b []byte) (*List, error) {
	l, r := new(List), reader{b: b}
	r.tag(tagList)
	r.bytes(l.Root[:])
	switch kind := r.number(1); kind {
	case 0:
	case 1:
		l.Issuer = new(Issuer)
		l.Issuer.read(&r)
	default:
		r.fail("signer %d", kind)
	}
	l.Number = r.number(8)
	count := int(r.number(2))
	if count > MaxRevoked {
		r.fail("%d nodes: want at most %d", count, MaxRevoked)
	}
	for i := 0; i < count && r.bad == nil; i++ {
		var e Revocation
		r.bytes(e.Node[:])
		e.Until = r.time()
		if i > 0 && compareRevoked(l.Revoked[i-1], e) >= 0 {
			r.fail("nodes out of order")
		}
		l.Revoked = append(l.Revoked, e)
	}
	r.bytes(l.signature[:])
	if err := r.end("revocation list"); err != nil {
		return nil, err
	}
	return l, nil
}

// Check returns an error if a network with this root does not take the list.
func (l *List) Check(root Key) error {
	err := error(nil)
	switch {
	case l.Root != root:
		err = ErrNetwork
	case l.Issuer != nil && l.Issuer.proved(root) != nil: // also of one that has expired: who is out stays out
		err = l.Issuer.proved(root)
	case !verify(l.Signer(), listContext, l.statement(nil), l.signature):
		err = ErrForged
	}
	if err != nil {
		return fmt.Errorf("revocation list: %w", err)
	}
	return nil
}

// has reports whether a certificate of a node that begins at a time is revoked.
func (l *List) has(node Key, from Time) bool {
	i, found := slices.BinarySearchFunc(l.Revoked, Revocation{Node: node}, compareRevoked)
	return found && from <= l.Revoked[i].Until
}
