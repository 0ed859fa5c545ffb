package credentials

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"skep/grid"
	"skep/node/certificate"
)

// issuerLife is how long an issuer's certificate lasts. It is renewed by a start with the root key in its second half.
const issuerLife = 365 * 24 * time.Hour

// warnBefore is how long before its end the log asks for the root key.
const warnBefore = 60 * 24 * time.Hour

// ErrNoIssuer is returned where only an issuer can act.
var ErrNoIssuer = errors.New("this node is no issuer of its network: want it asked where the root key was given " +
	"(skep up --root FILE)")

// openIssuer reads what an issuer keeps, makes this node one if the root key is at hand, and gives an issuer its own
// certificate.
func (k *Keeper) openIssuer() error {
	saved, err := k.folder.read(issuerFile)
	if err != nil {
		return err
	}
	if saved != nil {
		i, err := certificate.DecodeIssuer(saved[0])
		if err != nil {
			return fmt.Errorf("%s: %w", k.folder.path(issuerFile), err)
		}
		k.issuer = &i
	}
	now := k.now()
	if k.cfg.Root != nil && (k.issuer == nil || now > k.issuer.From+(k.issuer.Until-k.issuer.From)/2) {
		k.issuer = &certificate.Issuer{Root: k.root, Node: k.cfg.Self, Roles: certificate.AllRoles, Serial: random(),
			Window: certificate.Window{From: now, Until: now.Add(issuerLife)}}
		k.issuer.Sign(k.cfg.Root)
		if err := k.folder.write(issuerFile, k.issuer.Append(nil)); err != nil {
			return err
		}
	}
	if k.issuer == nil {
		return nil
	}
	if err := k.issuer.Check(k.root, now); err != nil {
		return fmt.Errorf("%w: want a start with the root key (skep up --root FILE)", err)
	}
	k.warnIssuerEnds()
	if err := k.openLedger(); err != nil {
		return err
	}
	if k.own != nil && k.own.Issuer.Node != k.cfg.Self {
		return nil
	}
	return k.issueOwn()
}

// warnIssuerEnds logs that the root key is needed soon.
func (k *Keeper) warnIssuerEnds() {
	if until := k.issuer.Until; k.now() > until.Add(-warnBefore) {
		k.cfg.Log.Warn("this node's certificate as an issuer ends: want a start with the root key before that (skep up "+
			"--root FILE), or all whom it let in are cut off", "until", until.Wall())
	}
}

// issueOwn gives an issuer its own certificate, if it is due. The caller holds mu, or is Open.
func (k *Keeper) issueOwn() error {
	if k.own != nil && k.now() < k.renewAt(k.own) {
		return nil
	}
	k.warnIssuerEnds()
	self := &certificate.Issued{Node: k.cfg.Self, Name: k.cfg.Name, Roles: k.issuer.Roles}
	return k.setOwn(k.sign(self))
}

// sign makes a member's next certificate. It begins after the node was last put out.
func (k *Keeper) sign(m *certificate.Issued) *certificate.Chain {
	from := max(k.now(), k.lists.RevokedUntil(m.Node)+1, m.OutAt+1)
	return certificate.NewChain(k.cfg.Key, k.issuer, &certificate.Member{Node: m.Node, Name: m.Name, Roles: m.Roles,
		Serial: random(), Window: certificate.Window{From: from, Until: from.Add(k.cfg.Life)}})
}

// give answers a peer that wants a certificate; why says what kept it from one. What it has used is on disk before
// that.
func (k *Keeper) give(peer grid.NodeID, frame []byte) (answer []byte, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.issuer == nil {
		return answerFrame(answerLater, ErrNoIssuer), ErrNoIssuer
	}
	m, err := (*certificate.Issued)(nil), error(nil)
	switch {
	case frame[0] == wantRenew && len(frame) == 1:
		m, err = k.ledger.Renew(peer)
	case frame[0] == wantRedeem && len(frame) == redeemSize:
		err = k.changeLedger(func(l *certificate.Ledger) (err error) {
			secret := [certificate.SecretSize]byte(frame[9:])
			if m, err = l.Redeem(peer, binary.BigEndian.Uint64(frame[1:]), secret, k.now()); err == nil {
				m.OutAt = max(m.OutAt, k.lists.RevokedUntil(peer)) // or that list would put it out once more
			}
			return err
		})
	default:
		err = errFrame
	}
	if err != nil {
		answer := byte(answerLater)
		for _, final := range []error{certificate.ErrUnknownInvite, certificate.ErrUsed, certificate.ErrExpired,
			certificate.ErrUnknownNode, certificate.ErrPutOut} {
			if errors.Is(err, final) {
				answer = answerDenied
			}
		}
		k.cfg.Log.Debug("no certificate given", "node", peer.Short(), "reason", err)
		return answerFrame(answer, err), err
	}
	c := k.sign(m)
	k.cfg.Log.Info("certificate given", "node", peer.Short(), "name", c.Name, "roles", c.Roles.String(), "renewed",
		frame[0] == wantRenew)
	return c.Append([]byte{answerOK}), nil
}

// Invite makes an invite, which this node alone redeems, and returns it when it is on disk. Name is that of the member,
// lasts how long it can be redeemed.
func (k *Keeper) Invite(name string, roles certificate.Roles, uses int, lasts time.Duration) (*Ticket, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.issuer == nil:
		return nil, ErrNoIssuer
	case certificate.CheckName(name) != nil:
		return nil, certificate.CheckName(name)
	case uses < 1 || uses > certificate.MaxUses:
		return nil, fmt.Errorf("uses %d: want 1 to %d", uses, certificate.MaxUses)
	case roles == 0 || !k.issuer.Roles.Has(roles):
		return nil, fmt.Errorf("roles %q: want some of %s", roles, k.issuer.Roles)
	case lasts < time.Second || lasts > maxInvite:
		return nil, fmt.Errorf("expires %v: want %v to %v", lasts, time.Second, maxInvite)
	}
	t := &Ticket{}
	rand.Read(t.Secret[:])
	now := k.now()
	t.Invite = certificate.Invite{Root: k.root, Issuer: k.cfg.Self, Serial: random(), Name: name, Roles: roles,
		Uses: uint16(uses), Until: now.Add(lasts), Hash: certificate.HashSecret(t.Secret)}
	t.Invite.Sign(k.cfg.Key)
	if name == k.cfg.Name {
		return nil, fmt.Errorf("name %q: this node has it: want another one", name)
	}
	if err := k.changeLedger(func(l *certificate.Ledger) error { return l.Invite(&t.Invite, now) }); err != nil {
		return nil, err
	}
	return t, nil
}

// maxInvite bounds how long an invite can be redeemed.
const maxInvite = 30 * 24 * time.Hour

// Revoke puts a member out, by the name in its certificate or its whole ID, and returns when that is on disk and counts
// here. The others are told at once.
func (k *Keeper) Revoke(ref string) (*certificate.Issued, error) {
	m, l, err := k.revocation(ref)
	if err == nil {
		err = k.addLists([]*certificate.List{l})
	}
	if err != nil {
		return nil, err
	}
	k.cfg.Log.Info("node put out", "node", m.Node.Short(), "name", m.Name, "list", l.Number)
	return m, nil
}

// revocation returns who is to be put out, and the list that does.
func (k *Keeper) revocation(ref string) (*certificate.Issued, *certificate.List, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.issuer == nil {
		return nil, nil, ErrNoIssuer
	}
	m, err := k.member(ref)
	if err != nil {
		return nil, nil, err
	}
	if m.Node == k.cfg.Self {
		return nil, nil, errors.New("this node is an issuer of its network, which cannot be put out by itself")
	}
	until := max(k.now(), m.OutAt+1, k.lists.RevokedUntil(m.Node)+1)
	if !k.letIn(m.Node) { // its issuer's clock may be ahead
		until = max(until, k.now().Add(certificate.Skew)-1)
	}
	if c := k.known[m.Node]; c != nil {
		if c.Issuer.Node == m.Node {
			return nil, nil, fmt.Errorf("node %s is an issuer of the network, which its root alone puts out", m.Node.Short())
		}
		until = max(until, c.From)
	}
	l := k.lists.Of(k.cfg.Self)
	if l == nil {
		l = &certificate.List{Root: k.root}
	}
	last := *l
	last.Issuer = k.issuer
	next, err := last.Next(certificate.Revocation{Node: m.Node, Until: until}, k.now())
	if err != nil {
		return nil, nil, err
	}
	next.Sign(k.cfg.Key)
	return &m, next, nil
}

// member returns the member with a name or a whole ID: one that was let in here, or one that was met.
func (k *Keeper) member(ref string) (certificate.Issued, error) {
	var found []certificate.Issued
	out := false
	for _, i := range k.ledger.Issued {
		if i.Name == ref || i.Node.String() == ref {
			if out = out || i.Out; !i.Out {
				found = append(found, i)
			}
		}
	}
	for _, n := range k.order {
		c := k.known[n]
		if !k.letIn(n) && (c.Name == ref || n.String() == ref) {
			if out = out || k.lists.Revoked(c) != nil; k.lists.Revoked(c) == nil {
				found = append(found, certificate.Issued{Node: n, Name: c.Name, Roles: c.Roles})
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return certificate.Issued{}, fmt.Errorf("node %.80q: %d members have this name: want the whole ID", ref, len(found))
	case out:
		return certificate.Issued{}, fmt.Errorf("node %.80q: is put out already", ref)
	}
	return certificate.Issued{}, fmt.Errorf("node %.80q: no member that was let in here or met has this name or ID: "+
		"want the name in its certificate, or its whole ID", ref)
}
