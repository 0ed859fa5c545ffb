package chain

import (
	"bytes"
	"crypto/ed25519"

	"skep/grid"
)

// SignatureSize is the size of a signature in bytes.
const SignatureSize = ed25519.SignatureSize

// Signer signs as this node, and checks the signatures of others. The same statement always has the same signature, so
// that a step of a node that signs can be repeated.
type Signer interface {
	// Sign returns this node's signature of a statement, of SignatureSize bytes.
	Sign(statement []byte) []byte

	// Verify reports whether a signature of a statement is that node's.
	Verify(node grid.NodeID, statement, signature []byte) bool
}

// Key is the Signer of a node with that key.
type Key ed25519.PrivateKey

// inContext separates signatures of statements from all others by the same key; which statement it is stands in its
// first bytes.
var inContext = &ed25519.Options{Context: "skep chain 1"}

// Sign implements [Signer].
func (k Key) Sign(statement []byte) []byte {
	signature, err := ed25519.PrivateKey(k).Sign(nil, statement, inContext)
	if err != nil {
		panic("chain: Ed25519 does not sign: " + err.Error())
	}
	return signature
}

// Verify implements [Signer].
func (k Key) Verify(node grid.NodeID, statement, signature []byte) bool {
	if bytes.Equal(node[:], k[ed25519.SeedSize:]) { // to sign it again takes half the time
		return bytes.Equal(signature, k.Sign(statement))
	}
	return Observer{}.Verify(node, statement, signature)
}

// Observer checks signatures and has no key: what it signs is nobody's. A recorded run of a node is repeated with it.
type Observer struct{}

// Sign implements [Signer].
func (Observer) Sign([]byte) []byte { return make([]byte, SignatureSize) }

// Verify implements [Signer].
func (Observer) Verify(node grid.NodeID, statement, signature []byte) bool {
	return len(signature) == SignatureSize && ed25519.VerifyWithOptions(node[:], statement, signature, inContext) == nil
}
