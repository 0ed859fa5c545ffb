package credentials

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"skep/grid"
	"skep/node/certificate"
)

// redeemSize is the size of a frame with wantRedeem.
const redeemSize = 1 + 8 + certificate.SecretSize

// due returns what this node asks a peer for before it shows its certificate: the frame; nil = nothing. It returns an
// error if it has no certificate to show, and the peer cannot give it one.
func (k *Keeper) due(peer grid.NodeID) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.ticket; t != nil && t.Invite.Issuer == peer {
		frame := binary.BigEndian.AppendUint64([]byte{wantRedeem}, t.Invite.Serial)
		return append(frame, t.Secret[:]...), nil
	}
	switch {
	case k.own == nil:
		return nil, ErrNone
	case k.own.Issuer.Node == peer && k.renewAt(k.own) <= k.now():
		return []byte{wantRenew}, nil
	}
	return nil, k.own.Holds(k.now())
}

// renewAt returns when a certificate is to be renewed: at half of its life.
func (k *Keeper) renewAt(c *certificate.Chain) certificate.Time { return c.From + (c.Until-c.From)/2 }

// obtain asks an issuer for a certificate and keeps it.
func (k *Keeper) obtain(c io.ReadWriter, peer grid.NodeID, frame []byte) error {
	redeems := frame[0] == wantRedeem
	if err := writeFrame(c, frame); err != nil {
		return err
	}
	b, err := readAnswer(c)
	var a *Answer
	if errors.As(err, &a) && a.Denied() && redeems {
		k.denied(fmt.Errorf("the invite was refused by its issuer, node %s: %s", peer.Short(), a.reason))
		return err
	}
	if err != nil {
		return k.refusedBy(peer, err)
	}
	chain, err := certificate.DecodeChain(b)
	if err == nil {
		err = chain.Check(k.root, k.cfg.Self, k.now())
	}
	if err == nil && chain.Issuer.Node != peer {
		err = errors.New("is not the issuer's")
	}
	if err != nil {
		k.say(&k.issuers, "the issuer gives a certificate that does not hold: are both clocks right?", peer, err)
		return err
	}
	return k.obtained(chain, redeems)
}

// obtained keeps a new certificate.
func (k *Keeper) obtained(c *certificate.Chain, redeemed bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.setOwn(c); err != nil {
		return err
	}
	if t := k.ticket; redeemed && t != nil {
		if err := k.folder.write(redeemedFile, serial(t)); err != nil {
			return err
		}
		k.folder.remove(inviteFile)
		k.ticket = nil
		k.cfg.Log.Info("this node was let in", "name", c.Name, "roles", c.Roles.String(), "issuer", c.Issuer.Node.Short(),
			"until", c.Until.Wall())
	}
	return nil
}

// denied gives up an invite.
func (k *Keeper) denied(err error) {
	k.mu.Lock()
	k.ticket = nil
	k.folder.remove(inviteFile)
	none := k.own == nil
	k.mu.Unlock()
	if none && k.cfg.Denied != nil {
		k.cfg.Denied(err)
		return
	}
	k.cfg.Log.Warn(err.Error())
}
