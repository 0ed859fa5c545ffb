package certificate

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"time"

	"skep/grid"
)

// Lives of certificates. Less means that a node whose issuer is away is out sooner, and that entries leave the
// revocation lists sooner; more, that a revoked node that meets nobody who knows is let in for longer.
const (
	Life    = 24 * time.Hour // of one that is issued now
	MaxLife = 48 * time.Hour // of one that is believed
)

const (
	tagMember     = 2
	memberContext = "skep certificate member 1"

	// MaxChain bounds the encoding of a chain in bytes.
	MaxChain = issuerSize + 1 + 32 + 1 + grid.MaxName + 1 + 8 + 8 + 8 + ed25519.SignatureSize
)

// Member is an issuer's statement that a node is a member of the network.
type Member struct {
	Node   Key
	Name   string // for people, at most grid.MaxName bytes
	Roles  Roles
	Serial uint64
	Window
}

// Chain is a member's certificate with that of its issuer.
type Chain struct {
	Issuer Issuer
	Member
	signature signature
}

// NewChain signs a member's certificate with the issuer's key.
func NewChain(key ed25519.PrivateKey, issuer *Issuer, m *Member) *Chain {
	c := &Chain{Issuer: *issuer, Member: *m}
	c.signature = sign(key, memberContext, c.statement(nil))
	return c
}

// statement is what the issuer signs: the certificate, and the network and issuer that it is of.
func (c *Chain) statement(dst []byte) []byte {
	dst = append(append(append(dst, tagMember), c.Issuer.Root[:]...), c.Issuer.Node[:]...)
	return c.appendMember(dst)
}

func (c *Chain) appendMember(dst []byte) []byte {
	dst = appendText(append(dst, c.Node[:]...), c.Name)
	dst = binary.BigEndian.AppendUint64(append(dst, byte(c.Roles)), c.Serial)
	return appendTime(appendTime(dst, c.From), c.Until)
}

// Append appends the encoding, of at most MaxChain bytes.
func (c *Chain) Append(dst []byte) []byte {
	dst = append(c.Issuer.Append(dst), tagMember)
	return append(c.appendMember(dst), c.signature[:]...)
}

// DecodeChain reads what Append wrote. It checks no signature.
func DecodeChain(b []byte) (*Chain, error) {
	c, r := new(Chain), reader{b: b}
	c.Issuer.read(&r)
	r.tag(tagMember)
	r.bytes(c.Node[:])
	c.Name, c.Roles, c.Serial, c.From, c.Until = r.text(), r.roles(), r.number(8), r.time(), r.time()
	r.bytes(c.signature[:])
	if err := r.end("certificate"); err != nil {
		return nil, err
	}
	return c, nil
}

// Check returns an error if the chain does not make the node a member of a network with this root at the time.
// Revocations are checked by Lists.
func (c *Chain) Check(root, node Key, now Time) error {
	err := c.Issuer.Check(root, now)
	if err == nil {
		err = c.proved(node)
	}
	if err == nil {
		err = c.Window.check(now)
	}
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	return nil
}

// Holds returns an error if a chain that was checked before does not hold at the time.
func (c *Chain) Holds(now Time) error {
	err := c.Issuer.Window.check(now)
	if err == nil {
		err = c.Window.check(now)
	}
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	return nil
}

// Proved returns an error if the chain, valid now or not, was not issued to the node in a network with this root.
func (c *Chain) Proved(root, node Key) error {
	err := c.Issuer.proved(root)
	if err == nil {
		err = c.proved(node)
	}
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	return nil
}

func (c *Chain) proved(node Key) error {
	switch {
	case c.Node != node:
		return ErrNode
	case !c.Issuer.Roles.Has(c.Roles):
		return ErrRoles
	case c.Until > c.From.Add(MaxLife):
		return ErrLife
	case !verify(c.Issuer.Node, memberContext, c.statement(nil), c.signature):
		return ErrForged
	}
	return nil
}
