package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// jobContext separates signatures of jobs from other signatures by the same key.
var jobContext = &ed25519.Options{Context: "skep job 1"}

// sealField is the number of the signature in an encoded spec. It is the last field, so that it signs all before
// it, whatever fields a later version adds.
const sealField = 19

// sealHead precedes the signature: its tag and its length.
var sealHead = protowire.AppendVarint(protowire.AppendTag(nil, sealField, protowire.BytesType), ed25519.SignatureSize)

// sealSize is the size of the signature and its head at the end of a sealed spec.
var sealSize = len(sealHead) + ed25519.SignatureSize

// SealSpec returns a spec signed by the job's origin: it has Sealed. The key must be that of the job's origin, and
// the submitter one at that node (ErrSignature). It does not change s.
func SealSpec(key ed25519.PrivateKey, job grid.JobID, s *grid.JobSpec) (*grid.JobSpec, error) {
	if len(key) != ed25519.PrivateKeySize || !bytes.Equal(key[ed25519.PublicKeySize:], job.Origin[:]) ||
		s.Submitter.Node != job.Origin {
		return nil, fmt.Errorf("job %s: %w: the key or the submitter is of another node than its origin", job.Short(),
			ErrSignature)
	}
	p := putSpec(s)
	p.Submitter = &pb.Submitter{Node: putNode(s.Submitter.Node), User: s.Submitter.User}
	if !s.Capability.IsZero() {
		p.Capability = s.Capability[:]
	}
	signed, err := marshal.MarshalAppend(putJob(job), p)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w: %w", job.Short(), ErrBound, err)
	}
	sig, err := key.Sign(nil, signed, jobContext)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w: %w", job.Short(), ErrSignature, err)
	}
	return readSpec(append(append(signed[jobSize:], sealHead...), sig...))
}

// OpenSpec decodes a spec that came with a job's ID and checks its origin's signature over the bytes as received.
// It is fresh memory. A spec without a signature is from an older version, and names no submitter and no
// capability. Errors wrap ErrMalformed, ErrBound or ErrSignature.
func OpenSpec(job grid.JobID, encoded []byte) (*grid.JobSpec, error) {
	s, err := readSpec(encoded)
	if err == nil && s.Sealed == "" {
		err = claimless(s)
	}
	if err != nil || s.Sealed == "" {
		return s, err
	}
	signed := append(putJob(job), encoded[:len(encoded)-sealSize]...)
	sig := encoded[len(encoded)-ed25519.SignatureSize:]
	if s.Submitter.Node != job.Origin || ed25519.VerifyWithOptions(job.Origin[:], signed, sig, jobContext) != nil {
		return nil, fmt.Errorf("spec: %w: not by the job's origin, node %s", ErrSignature, job.Origin.Short())
	}
	return s, nil
}

// spec decodes the spec that a message carries.
func (c *Codec) spec(job grid.JobID, encoded []byte) (*grid.JobSpec, error) {
	if c.Specs != nil {
		return c.Specs(job, encoded)
	}
	return OpenSpec(job, encoded)
}

// claimless rejects a spec without a signature that has a field that needs one.
func claimless(s *grid.JobSpec) error {
	if s.Submitter != (grid.Submitter{}) || !s.Capability.IsZero() || s.Signed || len(s.Secrets) > 0 {
		return fmt.Errorf("spec: %w: it has a submitter, a capability, secrets or signed ends and is not signed",
			ErrSignature)
	}
	return nil
}

// specBytes returns a spec's bytes: as its origin sealed them, or encoded now if there is no seal; none for no
// spec.
func specBytes(s *grid.JobSpec) ([]byte, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.Sealed != "":
		return []byte(s.Sealed), nil
	}
	if err := claimless(s); err != nil {
		return nil, err
	}
	b, err := marshal.Marshal(putSpec(s))
	if err != nil {
		return nil, fmt.Errorf("spec: %w: %w", ErrBound, err)
	}
	return b, nil
}

func getHash(b []byte, h *grid.CapabilityHash) error {
	if len(b) != len(h) {
		return fmt.Errorf("capability: %w: %d bytes, want %d", ErrBound, len(b), len(h))
	}
	copy(h[:], b)
	return nil
}
