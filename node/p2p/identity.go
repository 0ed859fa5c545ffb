package p2p

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"skep/grid"
	"skep/node/p2p/credentials"
	"skep/node/p2p/generations"
	"skep/node/p2p/identity"
	"skep/node/p2p/instance"
	"skep/node/p2p/reachability"
	"skep/node/p2p/store"
	"skep/node/p2p/wire"
)

// preparedFile says that Prepare wrote key and secret; the first start removes it.
const preparedFile = "prepared"

// openIdentity loads key and secret; newSecret reports that the secret is to be saved once all else has succeeded.
func (d *Driver) openIdentity(join *[32]byte) (newSecret bool, err error) {
	if d.secret, newSecret, err = identity.LoadSecret(d.cfg.DataDir, join); err != nil {
		return false, err
	}
	if newSecret && join == nil {
		if err := d.checkUnused(); err != nil {
			return false, err
		}
	}
	owner, err := d.store.Owner()
	if err != nil {
		return false, err
	}
	if err := d.checkOwner(owner, newSecret); err != nil {
		return false, err
	}
	if d.key, err = identity.LoadKey(d.cfg.DataDir, owner); err != nil {
		return false, err
	}
	copy(d.self[:], d.key.Public().(ed25519.PublicKey))
	d.instance = instance.NewID()
	if err := d.openCredentials(newSecret && (join == nil || d.cfg.ticket != nil)); err != nil {
		return false, err
	}
	outlived, err := generations.LoadOutlived(d.work.Context(), d.store.Datastore())
	if err != nil {
		return newSecret, fmt.Errorf("generations of peers: %w", err)
	}
	if d.boot, err = d.store.NextBootAfter(d.self, outlived.Boot()); err == nil {
		os.Remove(filepath.Join(d.cfg.DataDir, preparedFile))
	}
	return newSecret, err
}

// checkOwner returns an error if key and secret exist but the database has no owner. The owner is recorded in it
// before the secret is written, so such a database is newer than the identity.
func (d *Driver) checkOwner(owner grid.NodeID, newSecret bool) error {
	key := filepath.Join(d.cfg.DataDir, identity.KeyFile)
	if _, err := os.Stat(key); err != nil || newSecret || !owner.IsZero() {
		return nil
	}
	if _, err := os.Stat(filepath.Join(d.cfg.DataDir, preparedFile)); err == nil {
		return nil
	}
	return fmt.Errorf("data folder %s: %w: %s is that of a node, but %s was begun anew since and knows of none: want "+
		"it back as it was when the node was "+
		"last stopped, or another data folder, in which this is another node", d.cfg.DataDir, store.ErrDamaged,
		identity.KeyFile, store.File)
}

var errUsed = errors.New("has been in a network")

// checkUnused returns an error if the folder has records or known peers: then the node was in a network, and must
// not start another one because the secret is missing. A first start that was cut short leaves neither.
func (d *Driver) checkUnused() error {
	var err error
	if reachability.CountSaved(d.work.Context(), d.store.Datastore()) > 0 {
		err = errUsed
	} else {
		err = d.store.Load(func(*grid.Record) error { return errUsed })
	}
	if errors.Is(err, errUsed) {
		return fmt.Errorf("network secret: %s is not there, but the node of this data folder has been in a network: want "+
			"that file back, or the join line of that network (skep up --join-file FILE, or --join -), or another data folder",
			filepath.Join(d.cfg.DataDir, identity.SecretFile))
	}
	return err
}

// tokens returns what the tokens of Join say; without them the invite that the folder has yet to redeem counts.
func (c *Config) tokens() (secret *[32]byte, addrs []string, err error) {
	join := c.Join
	if invite := credentials.PendingInvite(c.DataDir); invite != "" && len(join) == 0 {
		join = []string{invite}
	}
	for _, text := range join {
		t, ticket, err := wire.ParseJoin(text)
		if err != nil {
			return nil, nil, err
		}
		if ticket != nil {
			c.ticket = ticket
		}
		if secret != nil && *secret != t.Secret {
			return nil, nil, fmt.Errorf("the tokens are of networks %s and %s: want tokens of one network",
				identity.NetworkName(*secret), identity.NetworkName(t.Secret))
		}
		secret = &t.Secret
		addrs = append(addrs, t.Addrs...)
	}
	return secret, addrs, nil
}

// tokenAddrs is the number of addresses in a token: enough that one of them works, few enough to paste. Usually a
// public, a relayed and a private one.
const tokenAddrs = 3

// Token returns the token with which a machine joins the network through this node. It contains the secret.
func (d *Driver) Token() (string, error) {
	if d.keeper != nil {
		return "", errors.New("token: this network has certificates: want an invite of its own for each node, which " +
			"skep node invite makes at an issuer")
	}
	t := wire.Token{Secret: d.secret, Addrs: d.addrs(tokenAddrs)}
	if err := t.Check(); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return t.String(), nil
}
