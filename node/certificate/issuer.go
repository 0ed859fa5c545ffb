package certificate

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Skew is how far the clocks of two members may be apart.
const Skew = 10 * time.Minute

// Reasons why a certificate does not hold.
var (
	ErrNetwork = errors.New("is of another network")
	ErrForged  = errors.New("the signature is not right")
	ErrNode    = errors.New("is that of another node")
	ErrEarly   = errors.New("is not valid yet")
	ErrExpired = errors.New("has expired")
	ErrRoles   = errors.New("has roles that its issuer cannot give")
	ErrLife    = errors.New("lasts too long")
	ErrRevoked = errors.New("is revoked")
)

const (
	tagIssuer     = 1
	issuerContext = "skep certificate issuer 1"
	issuerSize    = 1 + 32 + 32 + 1 + 8 + 8 + 8 + ed25519.SignatureSize
)

// Issuer is the root's statement that a node may let others into the network.
type Issuer struct {
	Root   Key // of the network
	Node   Key
	Roles  Roles // that it can give
	Serial uint64
	Window
	signature signature
}

// Window is when a certificate holds.
type Window struct{ From, Until Time }

// check returns an error if now is outside of the window, by more than clocks may be apart.
func (w Window) check(now Time) error {
	switch {
	case now.Add(Skew) < w.From:
		return fmt.Errorf("%w: it begins at %s", ErrEarly, w.From.Wall().Format(time.RFC3339))
	case now > w.Until.Add(Skew):
		return fmt.Errorf("%w: it ended at %s", ErrExpired, w.Until.Wall().Format(time.RFC3339))
	}
	return nil
}

// Sign signs with the root key, which must be that of Root.
func (i *Issuer) Sign(root ed25519.PrivateKey) {
	i.signature = sign(root, issuerContext, i.statement(nil))
}

func (i *Issuer) statement(dst []byte) []byte {
	dst = append(append(append(dst, tagIssuer), i.Root[:]...), i.Node[:]...)
	dst = binary.BigEndian.AppendUint64(append(dst, byte(i.Roles)), i.Serial)
	return appendTime(appendTime(dst, i.From), i.Until)
}

// Append appends the encoding.
func (i *Issuer) Append(dst []byte) []byte { return append(i.statement(dst), i.signature[:]...) }

func (i *Issuer) read(r *reader) {
	r.tag(tagIssuer)
	r.bytes(i.Root[:])
	r.bytes(i.Node[:])
	i.Roles, i.Serial, i.From, i.Until = r.roles(), r.number(8), r.time(), r.time()
	r.bytes(i.signature[:])
}

// DecodeIssuer reads what Append wrote.
func DecodeIssuer(b []byte) (i Issuer, err error) {
	r := reader{b: b}
	i.read(&r)
	return i, r.end("issuer's certificate")
}

// Check returns an error if a network with this root does not let the node issue certificates at the time.
func (i *Issuer) Check(root Key, now Time) error {
	err := i.proved(root)
	if err == nil {
		err = i.Window.check(now)
	}
	if err != nil {
		return fmt.Errorf("issuer's certificate: %w", err)
	}
	return nil
}

func (i *Issuer) proved(root Key) error {
	switch {
	case i.Root != root:
		return ErrNetwork
	case !verify(root, issuerContext, i.statement(nil), i.signature):
		return ErrForged
	}
	return nil
}
