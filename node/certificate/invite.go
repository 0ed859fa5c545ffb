package certificate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	tagInvite     = 3
	inviteContext = "skep certificate invite 1"

	// MaxUses bounds how many nodes may join with one invite.
	MaxUses = 1024

	// SecretSize is the size of an invite's secret in bytes.
	SecretSize = 16

	// MaxInvite bounds the encoding of an invite in bytes.
	MaxInvite = 1 + 32 + 32 + 8 + 1 + 255 + 1 + 2 + 8 + 32 + ed25519.SignatureSize
)

// Invite is an issuer's promise of certificates to whoever shows the invite's secret to it.
type Invite struct {
	Root   Key // of the network
	Issuer Key // the node that redeems it, and nobody else
	Serial uint64
	Name   string // of the member; with a number behind it for all but the first
	Roles  Roles
	Uses   uint16 // how many nodes may join with it, 1 to MaxUses
	Until  Time
	Hash   [sha256.Size]byte // of the secret

	signature signature
}

// ErrSecret reports a secret that is not the invite's.
var ErrSecret = errors.New("the invite's secret is not right")

// HashSecret returns the hash of an invite's secret, under which its issuer knows it.
func HashSecret(secret [SecretSize]byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("skep invite\x00"), secret[:]...))
}

// Sign signs with the issuer's key.
func (v *Invite) Sign(key ed25519.PrivateKey) {
	v.signature = sign(key, inviteContext, v.statement(nil))
}

func (v *Invite) statement(dst []byte) []byte {
	dst = append(append(append(dst, tagInvite), v.Root[:]...), v.Issuer[:]...)
	dst = appendText(binary.BigEndian.AppendUint64(dst, v.Serial), v.Name)
	dst = binary.BigEndian.AppendUint16(append(dst, byte(v.Roles)), v.Uses)
	return append(appendTime(dst, v.Until), v.Hash[:]...)
}

// Append appends the encoding, of at most MaxInvite bytes.
func (v *Invite) Append(dst []byte) []byte { return append(v.statement(dst), v.signature[:]...) }

func (v *Invite) read(r *reader) {
	r.tag(tagInvite)
	r.bytes(v.Root[:])
	r.bytes(v.Issuer[:])
	v.Serial, v.Name, v.Roles, v.Uses, v.Until = r.number(8), r.text(), r.roles(), uint16(r.number(2)), r.time()
	r.bytes(v.Hash[:])
	r.bytes(v.signature[:])
	if r.bad == nil && (v.Uses == 0 || v.Uses > MaxUses) {
		r.fail("uses %d: want 1 to %d", v.Uses, MaxUses)
	}
}

// DecodeInvite reads what Append wrote. It checks no signature.
func DecodeInvite(b []byte) (*Invite, error) {
	v, r := new(Invite), reader{b: b}
	v.read(&r)
	if err := r.end("invite"); err != nil {
		return nil, err
	}
	return v, nil
}

// Check returns an error if the issuer that the invite names did not sign it, or the secret is another one's.
func (v *Invite) Check(secret [SecretSize]byte) error {
	switch {
	case !verify(v.Issuer, inviteContext, v.statement(nil), v.signature):
		return fmt.Errorf("invite: %w", ErrForged)
	case HashSecret(secret) != v.Hash:
		return ErrSecret
	}
	return nil
}

// Expired returns an error if the invite cannot be redeemed any more at the time. The issuer alone decides: no other
// clock counts.
func (v *Invite) Expired(now Time) error {
	if now > v.Until {
		return fmt.Errorf("invite: %w: it ended at %s", ErrExpired, v.Until.Wall().Format("2006-01-02T15:04:05Z07:00"))
	}
	return nil
}
