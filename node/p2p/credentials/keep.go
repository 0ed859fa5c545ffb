package credentials

import (
	"errors"
	"slices"

	"skep/grid"
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
	next, some, out, ledger := k.lists, false, false, k.ledger.Clone()
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
			out = ledger.PutOut(r) || out
		}
	}
	if !some {
		return nil
	}
	var parts [][]byte
	for _, l := range next.All() {
		parts = append(parts, l.Append(nil))
	}
	if err := k.folder.write(listsFile, parts...); err != nil {
		return err
	}
	if out {
		if err := k.folder.writeLedger(&ledger); err != nil {
			return err
		}
	}
	k.lists, k.ledger = next, ledger
	k.changed()
	return nil
}

// changeLedger changes what an issuer remembers: all of it, on disk first, or nothing. The caller holds mu.
func (k *Keeper) changeLedger(change func(*certificate.Ledger) error) error {
	next := k.ledger.Clone()
	err := change(&next)
	if err == nil {
		err = k.folder.writeLedger(&next)
	}
	if err == nil {
		k.ledger = next
	}
	return err
}

// openLedger reads what an issuer remembers. Lists are saved before it, so they may know of more who are out.
func (k *Keeper) openLedger() (err error) {
	if k.ledger, err = k.folder.readLedger(); err != nil {
		return err
	}
	for _, l := range k.lists.All() {
		for _, r := range l.Revoked {
			k.ledger.PutOut(r)
		}
	}
	return nil
}

// letIn reports whether this node, an issuer, has let a node in. The caller holds mu.
func (k *Keeper) letIn(n grid.NodeID) bool {
	return slices.ContainsFunc(k.ledger.Issued, func(i certificate.Issued) bool { return i.Node == n })
}

// IsIssuer reports whether this node can let others in.
func (k *Keeper) IsIssuer() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.issuer != nil
}
