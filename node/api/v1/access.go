package v1

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"skep/grid"
)

// Headers of requests about jobs and of their answers.
const (
	ProofHeader = "Skep-Proof" // that the caller has the job's capability
	NonceHeader = "Skep-Nonce" // of an answer that lacked a proof: the nonce for the next one, at that node
	// of an answer: the whole ID of the job that the request named, as the asked node resolved it
	JobHeader  = "Skep-Job"
	UserHeader = "Skep-User" // the user for whom another member asks, as its node identified it; escaped as in a path
)

// Capability opens a job under access owner: the seed of an Ed25519 key. It is never sent; a request has a Proof of
// it.
type Capability [ed25519.SeedSize]byte

// Domain strings: what is hashed and signed here is used for nothing else.
const (
	hashContext  = "skep capability 1\n"
	proofContext = "skep request 1\n"
)

// ParseCapability parses what String prints.
func ParseCapability(s string) (c Capability, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(c) {
		return c, fmt.Errorf("capability: want %d hexadecimal digits", 2*len(c))
	}
	copy(c[:], b)
	return c, nil
}

// String returns it in hexadecimal.
func (c *Capability) String() string { return hex.EncodeToString(c[:]) }

func (c *Capability) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(c[:]) }

// Hash returns the capability's hash, which the job's spec contains.
func (c *Capability) Hash() grid.CapabilityHash {
	return hashOf(c.key().Public().(ed25519.PublicKey))
}

func hashOf(key ed25519.PublicKey) grid.CapabilityHash {
	return sha256.Sum256(append([]byte(hashContext), key...))
}

// Request is the one request that a proof is for.
type Request struct {
	Job    grid.JobID
	Method string
	Path   string // with the job's whole ID where it names it
	Query  string // as it is sent, without the ?
	Nonce  string // of the node that answers
}

// text returns the signed bytes. No part of it but the last can contain the line feed that ends it.
func (r *Request) text() []byte {
	return []byte(proofContext + r.Job.String() + "\n" + r.Nonce + "\n" + r.Method + "\n" + url.PathEscape(r.Path) + "\n" +
		r.Query)
}

// Proof proves that the sender of one request has a job's capability.
type Proof struct {
	key   [ed25519.PublicKeySize]byte
	sig   [ed25519.SignatureSize]byte
	Nonce string
}

// Prove makes the proof of a request.
func (c *Capability) Prove(r *Request) *Proof {
	p := &Proof{Nonce: r.Nonce}
	key := c.key()
	copy(p.key[:], key[ed25519.SeedSize:])
	copy(p.sig[:], ed25519.Sign(key, r.text()))
	return p
}

// String returns the header: key, nonce and signature.
func (p *Proof) String() string {
	return hex.EncodeToString(p.key[:]) + "." + p.Nonce + "." + hex.EncodeToString(p.sig[:])
}

// ParseProof parses what String prints.
func ParseProof(s string) (*Proof, error) {
	p := &Proof{}
	parts := strings.Split(s, ".")
	if len(parts) != 3 || !IsNonce(parts[1]) {
		return nil,
			errors.New("proof: want the public key, the nonce and the signature in hexadecimal, with a period between them")
	}
	p.Nonce = parts[1]
	for i, dst := range map[int][]byte{0: p.key[:], 2: p.sig[:]} {
		b, err := hex.DecodeString(parts[i])
		if err != nil || len(b) != len(dst) {
			return nil, fmt.Errorf("proof: part %d: want %d hexadecimal digits", i+1, 2*len(dst))
		}
		copy(dst, b)
	}
	return p, nil
}

// maxNonce bounds a nonce in characters.
const maxNonce = 64

// IsNonce reports whether a text can be a nonce: hexadecimal digits, not too many.
func IsNonce(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && s != "" && len(s) <= maxNonce
}

// IsOf reports whether a proof is of the capability with that hash. The request is not checked.
func (p *Proof) IsOf(h grid.CapabilityHash) bool {
	got := hashOf(p.key[:])
	return subtle.ConstantTimeCompare(got[:], h[:]) == 1
}

// Signs reports whether the proof was made for that request with its nonce.
func (p *Proof) Signs(r *Request) bool {
	return p.Nonce == r.Nonce && ed25519.Verify(p.key[:], r.text(), p.sig[:])
}

// access parses who may see the job. That there is a capability is checked by the node, which has a default.
func (s *Spec) access(g *grid.JobSpec) error {
	switch grid.Access(s.Access) {
	case "", grid.AccessMembers, grid.AccessOwner:
	default:
		return fmt.Errorf("access %.40q: want members or owner", s.Access)
	}
	if s.Capability == "" {
		return nil
	}
	b, err := hex.DecodeString(s.Capability)
	if err != nil || len(b) != len(g.Capability) || grid.CapabilityHash(b).IsZero() {
		return fmt.Errorf("capability_sha256 %.80q: want the 64 hexadecimal digits of a SHA-256", s.Capability)
	}
	if s.Access == string(grid.AccessMembers) {
		return fmt.Errorf("capability_sha256 with access members: want it with access owner only")
	}
	g.Capability = grid.CapabilityHash(b)
	return nil
}
