package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"skep/node/p2p/disk"
	"skep/node/p2p/wire"
	"skep/node/secret"
)

// openKey reads the key. A new one is made only where nothing is encrypted with another.
func (s *store) openKey(some bool) error {
	path := filepath.Join(s.dir, keyName)
	key, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && some:
		return fmt.Errorf("key of secrets: %s is not there, and secrets are: put it back, or remove the folder and set them "+
			"again", path)
	case errors.Is(err, fs.ErrNotExist):
		key = make([]byte, keySize)
		rand.Read(key)
		err = disk.WriteFile(path, key)
	}
	if err != nil {
		return fmt.Errorf("key of secrets: %w", err)
	}
	if len(key) != keySize {
		return fmt.Errorf("key of secrets: %s has %d bytes: want %d", path, len(key), keySize)
	}
	block, err := aes.NewCipher(key)
	if err == nil {
		s.seal, err = cipher.NewGCM(block)
	}
	return err
}

// fileName is that of a secret: it does not say which one.
func fileName(prefix string, id secret.ID) string {
	sum := sha256.Sum256(append(append([]byte{}, id.Owner[:]...), id.Name...))
	return prefix + hex.EncodeToString(sum[:16])
}

// read decrypts a file. Its name is authenticated with it, so that no file stands for another.
func (s *store) read(name string) (*secret.Request, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	n := s.seal.NonceSize()
	if len(b) < n {
		return nil, fmt.Errorf("%s: is cut", filepath.Join(s.dir, name))
	}
	plain, err := s.seal.Open(nil, b[:n], b[n:], []byte(name))
	if err != nil {
		return nil, fmt.Errorf("%s: is damaged, or of another key", filepath.Join(s.dir, name))
	}
	defer clear(plain)
	return wire.DecodeSecretRequest(plain)
}

// write encrypts a file, which is on disk when it returns.
func (s *store) write(name string, r *secret.Request) error {
	plain, err := wire.EncodeSecretRequest(r)
	if err != nil {
		return err
	}
	defer clear(plain)
	nonce := make([]byte, s.seal.NonceSize(), s.seal.NonceSize()+len(plain)+s.seal.Overhead())
	rand.Read(nonce)
	return disk.WriteFile(filepath.Join(s.dir, name), s.seal.Seal(nonce, nonce, plain, []byte(name)))
}
