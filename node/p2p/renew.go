package p2p

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"skep/node/p2p/credentials"
	"skep/node/p2p/disk"
	"skep/node/p2p/identity"
	"skep/node/p2p/machine"
	"skep/node/p2p/reachability"
	"skep/node/p2p/store"
	"skep/node/p2p/wire"
)

// renewedFile says that a data folder got another identity. It is written before anything is removed.
const renewedFile = "renewed"

// renewal is what is known of a folder that gets, or got, another identity.
type renewal struct {
	Place machine.Place `json:"place"`           // where the folder was then
	Done  bool          `json:"done"`            // all of the other node is removed
	Token string        `json:"token,omitempty"` // names the members that the folder knew, until the new node knows some
}

// readRenewal returns what is known of a folder's renewal; the zero value if it had none.
func readRenewal(dir string) (r renewal, err error) {
	b, err := os.ReadFile(filepath.Join(dir, renewedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("data folder: %w", err)
	}
	return r, nil
}

func (r *renewal) save(dir string) error {
	b, err := json.Marshal(r)
	if err == nil {
		err = disk.WriteFile(filepath.Join(dir, renewedFile), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("new identity: %w", err)
	}
	return nil
}

// Renew makes a data folder that was copied that of a new node of the same network: it removes the key, and the records
// and files, which belong to the node with that key. One that got another identity where it is now keeps that, unless
// again is set; renewed reports whether it got one. No node may run in the folder. [Rejoin] has to follow.
func Renew(dir string, again bool) (renewed bool, err error) {
	_, made, err := identity.LoadSecret(dir, nil)
	if err != nil {
		return false, err
	}
	if made {
		return false, fmt.Errorf("new identity: no node has run in %s: want the data folder of a node, or no "+
			"--new-identity", dir)
	}
	r, err := readRenewal(dir)
	if err != nil {
		return false, err
	}
	place, err := machine.PlaceOf(dir)
	if err != nil {
		return false, fmt.Errorf("new identity: %w", err)
	}
	if r.Done && r.Place == place && !again {
		return false, nil
	}
	r.Place, r.Done = place, false
	return true, r.carryOut(dir)
}

// carryOut removes what belongs to the other node, and first saves how the new one finds the members that the folder
// knows. It begins anew where it was cut short.
func (r *renewal) carryOut(dir string) error {
	s, err := store.OpenForData(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	addrs, err := reachability.SavedAddrs(context.Background(), s.Datastore())
	if err != nil {
		return err
	}
	if len(addrs) > 0 {
		secret, _, err := identity.LoadSecret(dir, nil)
		if err != nil {
			return err
		}
		t := wire.Token{Secret: secret, Network: identity.NetworkName(secret), Addrs: addrs}
		if err := t.Check(); err != nil {
			return fmt.Errorf("new identity: %w", err)
		}
		r.Token = t.String()
	}
	if err := r.save(dir); err != nil {
		return err
	}
	if err := credentials.Forget(dir); err != nil {
		return fmt.Errorf("new identity: %w", err)
	}
	// The database comes last: without it the folder would count as damaged if this was cut short.
	for _, name := range []string{identity.KeyFile, preparedFile, store.MarkFile, blobFolder, "work", "uptime", "runs",
		store.CopyFile, store.LogFile, store.LogDraft, store.File} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("new identity: %w", err)
		}
	}
	if err := disk.Sync(dir); err != nil {
		return fmt.Errorf("new identity: %w", err)
	}
	r.Done = true
	return r.save(dir)
}

// Rejoin returns a join token for a folder that got another identity: it names the members that the folder knew before.
// It is empty for other folders, and once the new node knows members. A renewal that was cut short is brought to its
// end.
func Rejoin(dir string) (token string, err error) {
	r, err := readRenewal(dir)
	if err != nil || r.Place == "" {
		return "", err
	}
	if !r.Done {
		err := r.carryOut(dir)
		return r.Token, err
	}
	if _, err := os.Lstat(filepath.Join(dir, store.File)); r.Token == "" || err != nil {
		return r.Token, nil
	}
	s, err := store.Open(dir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if reachability.CountSaved(context.Background(), s.Datastore()) == 0 {
		return r.Token, nil
	}
	r.Token = ""
	return "", r.save(dir)
}
