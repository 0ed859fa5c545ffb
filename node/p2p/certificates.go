package p2p

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/certificate"
	"skep/node/p2p/credentials"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

// openCredentials reads the node's certificates, if its network has some. fresh says that the folder is in no network
// yet.
func (d *Driver) openCredentials(fresh bool) (err error) {
	c := credentials.Config{Folder: filepath.Join(d.cfg.DataDir, credentials.Folder), Self: d.self, Name: d.cfg.name(),
		Key: d.key, Root: d.cfg.RootKey, New: fresh, Life: d.cfg.life, Log: d.log, Denied: d.cfg.Fatal}
	if t := d.cfg.ticket; t != nil {
		c.Ticket = &credentials.Ticket{Invite: t.Invite, Secret: t.InviteSecret, Text: t.String()}
	}
	d.keeper, err = credentials.Open(c)
	return err
}

// HasCertificates reports whether the node's network has certificates.
func (d *Driver) HasCertificates() bool { return d.keeper != nil }

// credentials returns what lets members in; nil where the secret of the network does.
func (d *Driver) credentials() transport.Credentials {
	if d.keeper == nil {
		return nil
	}
	return d.keeper
}

// mayRelay says which nodes may relay for others; nil: all.
func (d *Driver) mayRelay() func(grid.NodeID) bool {
	if d.keeper == nil {
		return nil
	}
	return d.keeper.MayRelay
}

// mayRun reports whether this node may take the tasks of others.
func (d *Driver) mayRun() bool { return d.keeper == nil || d.keeper.Roles().Has(certificate.Run) }

// checkSubmit returns an error if this node may not submit jobs.
func (d *Driver) checkSubmit() error {
	if d.keeper == nil || d.keeper.Roles().Has(certificate.Submit) {
		return nil
	}
	return errors.New("this node's certificate has no role submit: want the job submitted at another node, or a new " +
		"invite with that role (skep node invite --role submit)")
}

// errNoCertificates is returned where a network without certificates has nothing to do.
var errNoCertificates = errors.New("this network has no certificates: whoever has its token is a member (a network " +
	"that is founded with skep up --root FILE has some)")

// Invite returns an invite, which this node alone redeems: uses nodes may join with it while it lasts, with a name and
// roles. It contains secrets.
func (d *Driver) Invite(name string, roles []string, uses int, lasts time.Duration) (string, error) {
	if d.keeper == nil {
		return "", errNoCertificates
	}
	r, err := certificate.ParseRoles(roles)
	if err != nil {
		return "", err
	}
	t, err := d.keeper.Invite(name, r, uses, lasts)
	if err != nil {
		return "", err
	}
	w := wire.Ticket{Token: wire.Token{Secret: d.secret, Addrs: d.addrs(tokenAddrs)}, Invite: t.Invite,
		InviteSecret: t.Secret}
	if err := w.Check(); err != nil {
		return "", err
	}
	return w.String(), nil
}

// Revoke puts a member out, by the name in its certificate or its whole ID, and returns its ID when that is on disk and
// counts here. The others are told at once.
func (d *Driver) Revoke(ref string) (grid.NodeID, string, error) {
	if d.keeper == nil {
		return grid.NodeID{}, "", errNoCertificates
	}
	m, err := d.keeper.Revoke(ref)
	if err != nil {
		return grid.NodeID{}, "", err
	}
	return m.Node, m.Name, nil
}

// IsAdmin reports whether a node may drain this one by its certificate; all may where there are none.
func (d *Driver) IsAdmin(n grid.NodeID) bool {
	return d.keeper == nil || d.keeper.Has(n, certificate.Admin)
}

// Shown returns the certificate that a node has shown last, and an error if it does not hold any more; nil if there is
// none.
func (d *Driver) Shown(n grid.NodeID) (*certificate.Chain, error) {
	if d.keeper == nil {
		return nil, nil
	}
	return d.keeper.Shown(n)
}

// others are the peers as the keeper of certificates reaches them.
type others struct{ otherNodes }

// Open opens a stream to a node, which is dialled if it is not connected and its addresses are known.
func (o others) Open(ctx context.Context, n grid.NodeID, id string) (network.Stream, error) {
	if !o.IsConnected(n) {
		o.Dialable(n)
	}
	return o.otherNodes.Open(ctx, n, id)
}

// Disconnect closes all connections with a node.
func (o others) Disconnect(n grid.NodeID) { o.d.transport.Disconnect(n) }
