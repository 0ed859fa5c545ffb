package certificate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
)

// Bounds of a ledger.
const (
	MaxInvites = 256  // that can still be redeemed, or ended within keepInvites
	MaxIssued  = 4096 // members that an issuer has let in
)

// keepInvites is how long an invite is remembered after its end, so that who comes late is told so.
const keepInvites = 24 * time.Hour

// Reasons why an issuer gives no certificate.
var (
	ErrUnknownInvite = errors.New("the invite is not known here")
	ErrUsed          = errors.New("the invite is used up")
	ErrUnknownNode   = errors.New("the node was not let in here")
	ErrPutOut        = errors.New("the node was put out: it wants a new invite")
)

// Ledger is what an issuer has to remember: its invites, who has redeemed them, and who is out. A change must be on
// disk before it is answered. Its fields are exported to be saved.
type Ledger struct {
	Invites []Invited
	Issued  []Issued
}

// Invited is an invite and the nodes that have redeemed it.
type Invited struct {
	Serial uint64
	Name   string
	Roles  Roles
	Uses   int
	Until  Time
	Hash   []byte // of the secret
	Taken  []Key
}

// Issued is a node that was let in.
type Issued struct {
	Node  Key
	Name  string
	Roles Roles
	Out   bool // revoked
	OutAt Time // the end of its last revocation, 0 = none: new certificates begin later
}

// Clone returns a copy, which changes by itself.
func (l *Ledger) Clone() Ledger {
	next := Ledger{slices.Clone(l.Invites), slices.Clone(l.Issued)}
	for i := range next.Invites {
		next.Invites[i].Taken = slices.Clip(next.Invites[i].Taken) // is only appended to
	}
	return next
}

// Invite adds an invite. A name that a member or another open invite has is refused.
func (l *Ledger) Invite(v *Invite, now Time) error {
	l.Invites = slices.DeleteFunc(l.Invites, func(i Invited) bool { return now > i.Until.Add(keepInvites) })
	if len(l.Invites) >= MaxInvites {
		return fmt.Errorf("%d invites are open or ended within %v: want at most %d", len(l.Invites), keepInvites, MaxInvites)
	}
	if i := l.Named(v.Name); i != nil {
		return fmt.Errorf("name %q: node %s has it: want another one, or that node revoked", v.Name, i.Node.Short())
	}
	for _, i := range l.Invites {
		if i.Name == v.Name && now <= i.Until && len(i.Taken) < i.Uses {
			return fmt.Errorf("name %q: an invite that is open until %s has it: want another one", v.Name,
				i.Until.Wall().Format(time.RFC3339))
		}
	}
	l.Invites = append(l.Invites, Invited{Serial: v.Serial, Name: v.Name, Roles: v.Roles, Uses: int(v.Uses),
		Until: v.Until, Hash: v.Hash[:]})
	return nil
}

// Redeem lets a node in that shows an invite's secret. A node that has redeemed it before is let in again without
// another use, so that an answer that was lost can be asked for again, unless it was put out since.
func (l *Ledger) Redeem(node Key, serial uint64, secret [SecretSize]byte, now Time) (*Issued, error) {
	hash := HashSecret(secret)
	i := slices.IndexFunc(l.Invites, func(i Invited) bool { return i.Serial == serial && slices.Equal(i.Hash, hash[:]) })
	if i < 0 {
		return nil, ErrUnknownInvite
	}
	v := &l.Invites[i]
	if slices.Contains(v.Taken, node) {
		return l.Renew(node)
	}
	if now > v.Until {
		return nil, fmt.Errorf("the invite %w: it ended at %s", ErrExpired, v.Until.Wall().Format(time.RFC3339))
	}
	if len(v.Taken) >= v.Uses {
		return nil, fmt.Errorf("%w: %d of %d uses are taken", ErrUsed, len(v.Taken), v.Uses)
	}
	m, err := l.issued(node)
	if err != nil {
		return nil, err
	}
	v.Taken = append(v.Taken, node)
	m.Name, m.Roles, m.Out = l.freeName(v.Name, node), v.Roles, false
	return m, nil
}

// issued returns a node's entry, a new one if there is none. Where there is no room, it takes that of one that is out.
func (l *Ledger) issued(node Key) (*Issued, error) {
	if i := l.index(node); i >= 0 {
		return &l.Issued[i], nil
	}
	if len(l.Issued) >= MaxIssued {
		i := slices.IndexFunc(l.Issued, func(i Issued) bool { return i.Out })
		if i < 0 {
			return nil, fmt.Errorf("%d members were let in here: want at most %d", len(l.Issued), MaxIssued)
		}
		l.Issued = slices.Delete(l.Issued, i, i+1)
	}
	l.Issued = append(l.Issued, Issued{Node: node})
	return &l.Issued[len(l.Issued)-1], nil
}

// freeName returns a name that no other member has: the one given, or with a number behind it.
func (l *Ledger) freeName(name string, node Key) string {
	free := name
	for i := 2; ; i++ {
		if other := l.Named(free); other == nil || other.Node == node {
			return free
		}
		free = fmt.Sprintf("%s-%d", grid.Clean(name, grid.MaxName-8), i)
	}
}

// Renew returns what a node's next certificate says.
func (l *Ledger) Renew(node Key) (*Issued, error) {
	i := l.index(node)
	switch {
	case i < 0:
		return nil, ErrUnknownNode
	case l.Issued[i].Out:
		return nil, ErrPutOut
	}
	return &l.Issued[i], nil
}

// PutOut has a node, if it was let in here, get no further certificate; changed reports whether that is new.
func (l *Ledger) PutOut(r Revocation) (changed bool) {
	i := l.index(r.Node)
	if i < 0 || l.Issued[i].OutAt >= r.Until {
		return false
	}
	l.Issued[i].Out, l.Issued[i].OutAt = true, r.Until
	return true
}

// Named returns the member with a name that is not out; nil if there is none.
func (l *Ledger) Named(name string) *Issued {
	i := slices.IndexFunc(l.Issued, func(i Issued) bool { return !i.Out && i.Name == name })
	if i < 0 {
		return nil
	}
	return &l.Issued[i]
}

func (l *Ledger) index(node Key) int {
	return slices.IndexFunc(l.Issued, func(i Issued) bool { return i.Node == node })
}
