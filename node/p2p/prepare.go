package p2p

import (
	"crypto/ed25519"
	"fmt"
	"path/filepath"

	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/p2p/identity"
	"skep/node/p2p/wire"
)

// Member is a node and the TCP multiaddress at which it can be reached.
type Member struct {
	Node grid.NodeID
	Addr string // as in /ip4/172.18.0.2/tcp/7420
}

// Prepare makes a data folder for a node of a network before the node has ever run, and returns its identity. A
// folder that has an identity keeps it; one of another network is an error.
func Prepare(dir string, secret [32]byte) (id grid.NodeID, err error) {
	if err := disk.MakeFolder(dir, 0o700); err != nil {
		return id, fmt.Errorf("data folder: %w", err)
	}
	_, made, err := identity.LoadSecret(dir, &secret)
	if err != nil {
		return id, err
	}
	key, err := identity.LoadKey(dir, grid.NodeID{})
	if err != nil {
		return id, err
	}
	if made {
		if err := disk.WriteFile(filepath.Join(dir, preparedFile), nil); err != nil {
			return id, fmt.Errorf("data folder: %w", err)
		}
		if err := identity.SaveSecret(dir, secret); err != nil {
			return id, err
		}
	}
	copy(id[:], key.Public().(ed25519.PublicKey))
	return id, nil
}

// Invite returns a join token that names members of a network; the first grid.MaxAddrs of them.
func Invite(secret [32]byte, members ...Member) (string, error) {
	t := wire.Token{Secret: secret, Network: identity.NetworkName(secret)}
	for _, m := range members[:min(len(members), grid.MaxAddrs)] {
		t.Addrs = append(t.Addrs, m.Addr+"/p2p/"+identity.Peer(m.Node).String())
	}
	if err := t.Check(); err != nil {
		return "", err
	}
	return t.String(), nil
}
