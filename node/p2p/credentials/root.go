package credentials

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"skep/node/certificate"
)

// NewRoot draws a root key, writes it to a new file that only its owner can read, and returns its public key.
func NewRoot(path string) (certificate.Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return certificate.Key{}, fmt.Errorf("root key: %s is there already: want the name of a new file", path)
	}
	if err != nil {
		return certificate.Key{}, fmt.Errorf("root key: %w", err)
	}
	_, err = f.WriteString(hex.EncodeToString(seed) + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return certificate.Key{}, fmt.Errorf("root key: %w", err)
	}
	return certificate.Key(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)), nil
}

// ReadRoot reads a file of NewRoot.
func ReadRoot(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("root key: %s is not there: want a file that skep root new has made", path)
	}
	if err != nil {
		return nil, fmt.Errorf("root key: %w", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("root key: %s can be read by others (mode %#o): want 0600", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("root key: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("root key: %s: want %d hexadecimal digits, as skep root new writes them", path,
			2*ed25519.SeedSize)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
