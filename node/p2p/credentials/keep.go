package credentials

import (
	"errors"

	"skep/node/certificate"
)

// setOwn keeps this node's new certificate, and that the invite is redeemed. The caller holds mu.
func (k *Keeper) setOwn(c *certificate.Chain) error {
	if err := k.folder.write(ownFile, c.Append(nil)); err != nil {
		return err
	}
	k.own = c
	k.changed()
	return nil
}

// addLists takes revocation lists, which are on disk before they count. A list that somebody forged is an error. One of
// an issuer that is out, or of more signers than are remembered, is left out: an honest peer may know no better.
func (k *Keeper) addLists(lists []*certificate.List) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next, some, out := k.lists, false, false
	for _, l := range lists {
		newer, err := next.Add(k.root, l)
		if errors.Is(err, certificate.ErrForged) || errors.Is(err, certificate.ErrNetwork) {
			return err
		}
		if err != nil {
			continue
		}
		some = some || newer
		for _, r := range l.Revoked {
			out = k.ledger.PutOut(r) || out
		}
	}
	if !some {
		return nil
	}
	if out {
		if err := k.folder.writeLedger(&k.ledger); err != nil {
			return err
		}
	}
	var parts [][]byte
	for _, l := range next.All() {
		parts = append(parts, l.Append(nil))
	}
	if err := k.folder.write(listsFile, parts...); err != nil {
		return err
	}
	k.lists = next
	k.changed()
	return nil
}
