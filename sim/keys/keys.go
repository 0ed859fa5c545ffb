package keys

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"

	"skep/grid"
	"skep/node/chain"
)

// Key is the [chain.Signer] of one node in the world of a seed.
type Key struct {
	secret uint64
	self   grid.NodeID
}

var _ chain.Signer = Key{}

// Of returns the key of a node in the world of a seed.
func Of(seed uint64, self grid.NodeID) Key { return Key{seed, self} }

// Sign implements [chain.Signer].
func (k Key) Sign(statement []byte) []byte { return sum(k.secret, k.self, statement) }

// Verify implements [chain.Signer].
func (k Key) Verify(node grid.NodeID, statement, signature []byte) bool {
	return subtle.ConstantTimeCompare(signature, sum(k.secret, node, statement)) == 1
}

func sum(secret uint64, node grid.NodeID, statement []byte) []byte {
	b := make([]byte, 0, 8+len(node)+len(statement))
	b = binary.BigEndian.AppendUint64(b, secret)
	b = append(append(b, node[:]...), statement...)
	s := sha512.Sum512(b)
	return s[:chain.SignatureSize]
}
