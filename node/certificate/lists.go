package certificate

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxSigners bounds the lists of a network: the root's and those of issuers.
const MaxSigners = 16

// Version is which list of a signer somebody has.
type Version struct {
	Signer Key
	Number uint64
}

// Lists are the newest revocation lists of a network that a node knows, one of each signer. The zero value knows none.
type Lists struct{ lists []*List } // sorted by signer

// find returns where a signer's list is, or would be.
func (s *Lists) find(signer Key) (int, bool) {
	return slices.BinarySearchFunc(s.lists, signer, func(l *List, k Key) int {
		of := l.Signer()
		return bytes.Compare(of[:], k[:])
	})
}

// Of returns a signer's list; nil if there is none.
func (s *Lists) Of(signer Key) *List {
	if i, found := s.find(signer); found {
		return s.lists[i]
	}
	return nil
}

// All returns the lists, which are not to be changed.
func (s *Lists) All() []*List { return s.lists }

// Versions returns which lists are known.
func (s *Lists) Versions() []Version {
	versions := make([]Version, len(s.lists))
	for i, l := range s.lists {
		versions[i] = Version{l.Signer(), l.Number}
	}
	return versions
}

// Newer returns the lists that somebody with others lacks.
func (s *Lists) Newer(others []Version) (newer []*List) {
	for _, l := range s.lists {
		i := slices.IndexFunc(others, func(v Version) bool { return v.Signer == l.Signer() })
		if i < 0 || others[i].Number < l.Number {
			newer = append(newer, l)
		}
	}
	return newer
}

// Add takes a list of a network with this root, if it is newer than what is known of its signer, and reports whether it
// was. A list of an issuer that the root has put out is not taken, so that its key, in wrong hands, puts out nobody.
func (s *Lists) Add(root Key, l *List) (newer bool, err error) {
	if err := l.Check(root); err != nil {
		return false, err
	}
	if l.Issuer != nil && s.issuerRevoked(l.Issuer) {
		return false, fmt.Errorf("revocation list: its issuer's certificate %w", ErrRevoked)
	}
	i, found := s.find(l.Signer())
	switch {
	case found && s.lists[i].Number >= l.Number:
		return false, nil
	case found:
		s.lists = slices.Clone(s.lists)
		s.lists[i] = l
		return true, nil
	case len(s.lists) >= MaxSigners && l.Issuer != nil:
		return false, fmt.Errorf("revocation list: %d signers are known: want at most %d", len(s.lists), MaxSigners)
	}
	s.lists = slices.Insert(slices.Clone(s.lists), i, l)
	return true, nil
}

// Revoked returns an error if a chain, which was checked, is revoked.
func (s *Lists) Revoked(c *Chain) error {
	if s.issuerRevoked(&c.Issuer) {
		return fmt.Errorf("issuer's certificate: %w", ErrRevoked)
	}
	for _, l := range s.lists {
		if l.has(c.Node, c.From) && (l.Issuer == nil || c.Node != c.Issuer.Node) {
			return fmt.Errorf("certificate: %w", ErrRevoked)
		}
	}
	return nil
}

// issuerRevoked reports whether the root has put an issuer out.
func (s *Lists) issuerRevoked(i *Issuer) bool {
	l := s.Of(i.Root)
	return l != nil && l.Issuer == nil && l.has(i.Node, i.From)
}

// RevokedUntil returns the end of a node's latest revocation: certificates that begin after it hold. 0 = never revoked.
func (s *Lists) RevokedUntil(node Key) (until Time) {
	for _, l := range s.lists {
		i, found := slices.BinarySearchFunc(l.Revoked, Revocation{Node: node}, compareRevoked)
		if found {
			until = max(until, l.Revoked[i].Until)
		}
	}
	return until
}
