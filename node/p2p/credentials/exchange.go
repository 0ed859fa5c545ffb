package credentials

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"skep/grid"
	"skep/node/certificate"
)

// Initiate shows this node's certificate to a peer whose key is proved, and checks the peer's. An issuer is asked first
// for a certificate that is due. The caller bounds the time.
func (k *Keeper) Initiate(c io.ReadWriter, peer grid.NodeID) error {
	what, err := k.due(peer)
	if err != nil {
		return err
	}
	if what != nil {
		err := k.obtain(c, peer, what)
		if own := k.showing(); err != nil && (own.chain == nil || own.chain.Holds(k.now()) != nil) {
			return err
		}
	}
	own := k.showing()
	if own.chain == nil {
		return ErrNone
	}
	if err := writeFrame(c, own.append([]byte{wantMember})); err != nil {
		return err
	}
	b, err := readAnswer(c)
	if err != nil {
		return k.refusedBy(peer, err)
	}
	other, err := readShowing(b)
	if err != nil {
		return err
	}
	if err := k.check(other.chain, peer); err != nil { // before more is read
		writeFrame(c, answerFrame(answerRefused, err))
		return err
	}
	lists, err := readLists(c, lacking(other.versions, own.versions))
	if err == nil {
		err = k.addLists(lists)
	}
	if err == nil {
		err = k.accept(other.chain, peer)
	}
	if err != nil {
		writeFrame(c, answerFrame(answerRefused, err))
		return err
	}
	if err := writeFrame(c, []byte{answerOK}); err != nil {
		return err
	}
	newer := k.newer(own.versions, other.versions)
	if err := sendLists(c, newer); err != nil || len(newer) == 0 {
		return err
	}
	_, err = readAnswer(c)
	return k.refusedBy(peer, err)
}

// Respond answers what a peer whose key is proved initiates. The caller bounds the time.
func (k *Keeper) Respond(c io.ReadWriter, peer grid.NodeID) error {
	b, err := readFrame(c, maxFrame)
	if err == nil && (b[0] == wantRedeem || b[0] == wantRenew) {
		answer, why := k.give(peer, b)
		if err := writeFrame(c, answer); err != nil {
			return err
		}
		if why != nil && b[0] == wantRedeem {
			return why
		}
		b, err = readFrame(c, maxFrame)
	}
	if err != nil {
		return err
	}
	if b[0] != wantMember {
		return fmt.Errorf("%w: wants %d", errFrame, b[0])
	}
	other, err := readShowing(b[1:])
	if err != nil {
		return err
	}
	own := k.showing()
	if own.chain == nil {
		writeFrame(c, answerFrame(answerLater, ErrNone))
		return ErrNone
	}
	if err := k.check(other.chain, peer); err != nil {
		writeFrame(c, answerFrame(answerRefused, err))
		return err
	}
	if err := writeFrame(c, own.append([]byte{answerOK})); err != nil {
		return err
	}
	if err := sendLists(c, k.newer(own.versions, other.versions)); err != nil {
		return err
	}
	if _, err := readAnswer(c); err != nil {
		return k.refusedBy(peer, err)
	}
	count := lacking(other.versions, own.versions)
	lists, err := readLists(c, count)
	if err == nil {
		err = k.addLists(lists)
	}
	if err == nil {
		err = k.accept(other.chain, peer)
	}
	switch {
	case count == 0:
		return err
	case err != nil:
		writeFrame(c, answerFrame(answerRefused, err))
		return err
	}
	return writeFrame(c, []byte{answerOK})
}

// showing returns this node's certificate and the lists that it knows.
func (k *Keeper) showing() showing {
	k.mu.Lock()
	defer k.mu.Unlock()
	return showing{k.own, k.lists.Versions()}
}

// newer returns the lists that a peer lacks of those that this node has said it knows: as many as lacking says, also
// if others came since.
func (k *Keeper) newer(said, others []certificate.Version) (newer []*certificate.List) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range said {
		if lacking([]certificate.Version{v}, others) > 0 {
			newer = append(newer, k.lists.Of(v.Signer))
		}
	}
	return newer
}

// check returns an error if a peer with a certificate is no member now. The signatures of the one that it showed last
// are not checked again.
func (k *Keeper) check(c *certificate.Chain, peer grid.NodeID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.checkLocked(c, peer)
}

func (k *Keeper) checkLocked(c *certificate.Chain, peer grid.NodeID) error {
	known := k.known[peer]
	if known == nil || !bytes.Equal(known.Append(nil), c.Append(nil)) {
		if err := c.Proved(k.root, peer); err != nil {
			return err
		}
	}
	if err := c.Holds(k.now()); err != nil {
		return err
	}
	return k.lists.Revoked(c)
}

// accept remembers the certificate of a peer that is a member, also by the lists that have come since.
func (k *Keeper) accept(c *certificate.Chain, peer grid.NodeID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.checkLocked(c, peer); err != nil {
		return err
	}
	k.remember(c)
	return nil
}

// Shown returns the certificate that a node, or this one, has shown last, and an error if it does not hold any more;
// nil if there is none.
func (k *Keeper) Shown(n grid.NodeID) (*certificate.Chain, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.known[n]
	if n == k.cfg.Self {
		c = k.own
	}
	if c == nil {
		return nil, nil
	}
	err := c.Holds(k.now())
	if err == nil {
		err = k.lists.Revoked(c)
	}
	return c, err
}

// Stands returns an error if a peer that was a member is none any more.
func (k *Keeper) Stands(peer grid.NodeID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.known[peer]
	if c == nil {
		return ErrNone
	}
	return k.checkLocked(c, peer)
}

// refusedBy says of an answer whose it is.
func (k *Keeper) refusedBy(peer grid.NodeID, err error) error {
	var a *Answer
	if !errors.As(err, &a) {
		return err
	}
	k.say(&k.strangers, "another node refuses this one", peer, a)
	return fmt.Errorf("%w: node %s: %s", ErrRefused, peer.Short(), a.reason)
}
