package p2p

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/p2p/store"
)

// idPrefix precedes the 32 bytes of an Ed25519 key in a libp2p identity: an identity multihash of 36 bytes around a
// protobuf key of type 1. So no table is needed in either direction.
const idPrefix = "\x00\x24\x08\x01\x12\x20"

// peerOf returns the libp2p identity of a node.
func peerOf(n grid.NodeID) peer.ID { return peer.ID(idPrefix + string(n[:])) }

// nodeOf returns the node with a libp2p identity; false if that is not an Ed25519 key.
func nodeOf(p peer.ID) (n grid.NodeID, ok bool) {
	key, ok := strings.CutPrefix(string(p), idPrefix)
	if !ok || len(key) != len(n) {
		return n, false
	}
	copy(n[:], key)
	return n, true
}

const (
	keyFile    = "identity"
	secretFile = "secret"

	preparedFile = "prepared" // Prepare wrote key and secret; the first start removes it
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

// loadKey returns the node's key, a new one for a new folder. The records of a folder belong to one node: where
// there are any, owner is that node and its key must exist.
func loadKey(dir string, owner grid.NodeID) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, keyFile)
	seed, err := readHex(path, ed25519.SeedSize)
	switch {
	case errors.Is(err, errNone) && !owner.IsZero():
		return nil, fmt.Errorf("identity: %s is not there, but the data folder is that of node %s: want that file back, or another data folder", path, owner)
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
		return nil, fmt.Errorf("identity: %s is that of node %s, but the data folder is that of node %s: want its own file back, or another data folder", path, id, owner)
	}
	return key, nil
}

// loadSecret returns the network's secret: the folder's, which join (if any) must equal; else join's; else a new
// one. made reports that it is not on disk yet: the caller saves it once the node runs.
func loadSecret(dir string, join *[32]byte) (secret [32]byte, made bool, err error) {
	path := filepath.Join(dir, secretFile)
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
		return secret, false, fmt.Errorf("the token is of network %s, but this data folder belongs to network %s: want a token of that network, or another data folder (%s)",
			networkName(*join), networkName(secret), dir)
	}
	return secret, false, nil
}

// openIdentity loads key and secret; newSecret reports that the secret is to be saved once all else has succeeded.
func (d *Driver) openIdentity(join *[32]byte) (newSecret bool, err error) {
	if d.secret, newSecret, err = loadSecret(d.cfg.DataDir, join); err != nil {
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
	if d.key, err = loadKey(d.cfg.DataDir, owner); err != nil {
		return false, err
	}
	copy(d.self[:], d.key.Public().(ed25519.PublicKey))
	if d.boot, err = d.store.NextBoot(d.self); err == nil {
		os.Remove(filepath.Join(d.cfg.DataDir, preparedFile))
	}
	return newSecret, err
}

// checkOwner returns an error if key and secret exist but the database has no owner. The owner is recorded in it
// before the secret is written, so such a database is newer than the identity.
func (d *Driver) checkOwner(owner grid.NodeID, newSecret bool) error {
	key := filepath.Join(d.cfg.DataDir, keyFile)
	if _, err := os.Stat(key); err != nil || newSecret || !owner.IsZero() {
		return nil
	}
	if _, err := os.Stat(filepath.Join(d.cfg.DataDir, preparedFile)); err == nil {
		return nil
	}
	return fmt.Errorf("data folder %s: %w: %s is that of a node, but %s was begun anew since and knows of none: want it back as it was when the node was "+
		"last stopped, or another data folder, in which this is another node", d.cfg.DataDir, store.ErrDamaged, keyFile, store.File)
}

var errUsed = errors.New("has been in a network")

// checkUnused returns an error if the folder has records or known peers: then the node was in a network, and must
// not start another one because the secret is missing. A first start that was cut short leaves neither.
func (d *Driver) checkUnused() error {
	var err error
	if d.countSavedPeers() > 0 {
		err = errUsed
	} else {
		err = d.store.Load(func(*grid.Record) error { return errUsed })
	}
	if errors.Is(err, errUsed) {
		return fmt.Errorf("network secret: %s is not there, but the node of this data folder has been in a network: want that file back, or the join line of that network (skep up --join-file FILE, or --join -), or another data folder",
			filepath.Join(d.cfg.DataDir, secretFile))
	}
	return err
}

// networkName identifies a network to people without revealing the secret.
func networkName(secret [32]byte) string { return derive(secret, "name")[:8] }

// derive returns a name for a purpose that cannot be guessed, nor turned back into the secret, without the secret.
func derive(secret [32]byte, purpose string) string {
	h := sha256.Sum256(append([]byte("skep "+purpose+"\x00"), secret[:]...))
	return hex.EncodeToString(h[:16])
}
