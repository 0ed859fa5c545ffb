package p2p

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"skep/node/p2p/disk"
	"skep/node/p2p/identity"
	"skep/node/p2p/reachability"
	"skep/node/p2p/store"
	"skep/node/p2p/wire"
)

// Renew makes a data folder that was copied that of a new node of the same network: it removes the key, and the records
// and files, which belong to the node with that key. It returns a join token that names the members that the folder
// knew, empty if there are none. No node may run in the folder.
func Renew(dir string) (token string, err error) {
	secret, made, err := identity.LoadSecret(dir, nil)
	if err != nil {
		return "", err
	}
	if made {
		return "", fmt.Errorf("new identity: no node has run in %s: want the data folder of a node, or no "+
			"--new-identity", dir)
	}
	s, err := store.Open(dir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	addrs, err := reachability.SavedAddrs(context.Background(), s.Datastore())
	if err != nil {
		return "", err
	}
	// The database comes last: without it the folder would count as damaged if this was cut short.
	for _, name := range []string{identity.KeyFile, preparedFile, store.MarkFile, blobFolder, "work", "uptime",
		store.CopyFile, store.File} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("new identity: %w", err)
		}
	}
	if err := disk.Sync(dir); err != nil {
		return "", fmt.Errorf("new identity: %w", err)
	}
	if len(addrs) == 0 {
		return "", nil
	}
	t := wire.Token{Secret: secret, Network: identity.NetworkName(secret), Addrs: addrs}
	if err := t.Check(); err != nil {
		return "", fmt.Errorf("new identity: %w", err)
	}
	return t.String(), nil
}
