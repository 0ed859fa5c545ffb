package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Files of a data folder.
const (
	KeyFile    = "identity" // the node's key
	SecretFile = "secret"   // the network's secret
)

// errNone reports that a file does not exist yet.
var errNone = errors.New("not there yet")

// readHex reads a file of size bytes in hexadecimal digits, which only its owner may be able to read.
func readHex(path string, size int) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %#o): want 0600", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != size {
		return nil, fmt.Errorf("%s: want %d hexadecimal digits", path, 2*size)
	}
	return b, nil
}

// writeHex writes b for readHex.
func writeHex(path string, b []byte) error {
	return disk.WriteFile(path, []byte(hex.EncodeToString(b)+"\n"))
}

// LoadKey returns the node's key, a new one for a new folder. The records of a folder belong to one node: where
// there are any, owner is that node and its key must exist.
func LoadKey(dir string, owner grid.NodeID) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	seed, err := readHex(path, ed25519.SeedSize)
	switch {
	case errors.Is(err, errNone) && !owner.IsZero():
		return nil,
			fmt.Errorf("identity: %s is not there, but the data folder is that of node %s: want that file back, or another "+
				"data folder", path, owner)
	case errors.Is(err, errNone):
		seed = make([]byte, ed25519.SeedSize)
		rand.Read(seed)
		err = writeHex(path, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	if id := grid.NodeID(key.Public().(ed25519.PublicKey)); !owner.IsZero() && id != owner {
		return nil,
			fmt.Errorf("identity: %s is that of node %s, but the data folder is that of node %s: want its own file back, or "+
				"another data folder", path, id, owner)
	}
	return key, nil
}

// LoadSecret returns the network's secret: the folder's, which join (if any) must equal; else join's; else a new
// one. made reports that it is not on disk yet: the caller saves it once the node runs.
func LoadSecret(dir string, join *[32]byte) (secret [32]byte, made bool, err error) {
	path := filepath.Join(dir, SecretFile)
	b, err := readHex(path, len(secret))
	switch {
	case errors.Is(err, errNone) && join != nil:
		return *join, true, nil
	case errors.Is(err, errNone):
		rand.Read(secret[:])
		return secret, true, nil
	case err != nil:
		return secret, false, fmt.Errorf("network secret: %w", err)
	}
	copy(secret[:], b)
	if join != nil && *join != secret {
		return secret, false,
			fmt.Errorf("the token is of network %s, but this data folder belongs to network %s: want a token of that "+
				"network, or another data folder (%s)",
				NetworkName(*join), NetworkName(secret), dir)
	}
	return secret, false, nil
}

// SaveSecret writes the network's secret, which the folder does not have yet.
func SaveSecret(dir string, secret [32]byte) error {
	if err := writeHex(filepath.Join(dir, SecretFile), secret[:]); err != nil {
		return fmt.Errorf("network secret: %w", err)
	}
	return nil
}
