package secrets

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/secret"
)

// The names of files in the folder of secrets. The key encrypts the others, whose names are hashes.
const (
	keyName    = "key"
	heldPrefix = "held-" // with a value, for the owner
	ownPrefix  = "own-"  // without: what this node has set, and where it is
)

// keySize is that of AES-256.
const keySize = 32

// store keeps secrets in a folder, each in a file of its own, encrypted with the key in the same folder. It is safe for
// concurrent use.
type store struct {
	dir  string
	seal cipher.AEAD
	log  *slog.Logger

	mu   sync.Mutex
	held map[secret.ID]secret.Secret
	own  map[string]secret.Secret // by name
}

// openStore opens the folder, and makes it with a new key if it is not there. A file that cannot be read is logged and
// left: the others are there.
func openStore(dir string, self grid.NodeID, log *slog.Logger) (*store, error) {
	if err := disk.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of secrets: %w", err)
	}
	s := &store{dir: dir, log: log, held: map[secret.ID]secret.Secret{}, own: map[string]secret.Secret{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of secrets: %w", err)
	}
	some := slices.ContainsFunc(files, func(f fs.DirEntry) bool { return encrypted(f.Name()) })
	if err := s.openKey(some); err != nil {
		return nil, err
	}
	for _, f := range files {
		if !encrypted(f.Name()) {
			continue
		}
		r, err := s.read(f.Name())
		if err != nil {
			log.Warn("a secret cannot be read, so nobody gets it from this node", "error", err)
			continue
		}
		switch {
		case strings.HasPrefix(f.Name(), heldPrefix):
			s.held[r.ID] = r.Secret
		case r.Owner == self: // else the node had another identity then

			s.own[r.Name] = r.Secret
		}
	}
	return s, nil
}

func encrypted(name string) bool {
	return len(name) > 30 && (strings.HasPrefix(name, heldPrefix) || strings.HasPrefix(name, ownPrefix))
}

// errFull is why a node holds no further secret.
var errFull = fmt.Errorf("it holds %d secrets of this owner, or %d of all: remove some", secret.MaxOfOwner,
	secret.MaxHeld)

// hold keeps a secret with its value, in place of an earlier one.
func (s *store) hold(of *secret.Secret, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.held[of.ID]; !there {
		same := 0
		for id := range s.held {
			if id.Owner == of.Owner {
				same++
			}
		}
		if same >= secret.MaxOfOwner || len(s.held) >= secret.MaxHeld {
			return errFull
		}
	}
	r := &secret.Request{Op: secret.Set, Secret: *of, Value: value}
	if err := s.write(fileName(heldPrefix, of.ID), r); err != nil {
		return fmt.Errorf("secret %s: %w", of.Name, err)
	}
	s.held[of.ID] = *of
	return nil
}

// get returns what is held of a secret; false = it is not held here.
func (s *store) get(id secret.ID) (secret.Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, there := s.held[id]
	return of, there
}

// usableBy returns the one secret of a name that jobs of a node may use.
func (s *store) usableBy(origin grid.NodeID, name string) (of secret.Secret, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := 0
	for id, held := range s.held {
		if id.Name == name && slices.ContainsFunc(held.Origins, func(o secret.Origin) bool { return o.Node == origin }) {
			of, found = held, found+1
		}
	}
	switch found {
	case 0:
		return of, errors.New("it holds no such secret for jobs of this node")
	case 1:
		return of, nil
	}
	return secret.Secret{}, errors.New("it holds secrets of this name of several owners: want another name for one")
}

// value reads the value of a secret that is held.
func (s *store) value(id secret.ID) ([]byte, error) {
	r, err := s.read(fileName(heldPrefix, id))
	if err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, fmt.Errorf("secret %s: its file has another one", id.Name)
	}
	return r.Value, nil
}

// release forgets a secret that is held.
func (s *store) release(id secret.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, id)
	return s.remove(fileName(heldPrefix, id))
}

// remove removes a file; it may be gone.
func (s *store) remove(name string) error {
	err := os.Remove(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.Sync(s.dir)
	}
	return err
}

// noteOwn keeps what this node has set, without the value.
func (s *store) noteOwn(of *secret.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.own[of.Name]; !there && len(s.own) >= secret.MaxOfOwner {
		return fmt.Errorf("secret %s: this node has set %d: remove some", of.Name, len(s.own))
	}
	if err := s.write(fileName(ownPrefix, of.ID), &secret.Request{Op: secret.Look, Secret: *of}); err != nil {
		return fmt.Errorf("secret %s: %w", of.Name, err)
	}
	s.own[of.Name] = *of
	return nil
}

// ownOf returns what this node has set by a name.
func (s *store) ownOf(name string) (secret.Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, there := s.own[name]
	return of, there
}

// forgetOwn forgets what this node has set.
func (s *store) forgetOwn(id secret.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own, id.Name)
	return s.remove(fileName(ownPrefix, id))
}
