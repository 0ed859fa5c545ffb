package instance

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"skep/grid"
)

// Process is where an instance runs. Only another process with the same key can read it in a statement.
type Process struct {
	Number uint32 // on its machine
	Host   string // name of the machine, printable, at most maxHost bytes
}

// maxHost bounds the name of a machine in bytes.
const maxHost = 64

// Sizes of a sealed process: a nonce, the number and the name filled up with zeros, a tag.
const (
	nonceSize  = 12
	sealedSize = nonceSize + 4 + maxHost + 16
)

// sealer returns what encrypts for processes with a key.
func sealer(key ed25519.PrivateKey) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, key.Seed(), nil, "skep instance process", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal returns the process in sealedSize bytes, of which its length tells nothing.
func (p *Process) seal(key ed25519.PrivateKey) ([]byte, error) {
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	var plain [4 + maxHost]byte
	binary.BigEndian.PutUint32(plain[:], p.Number)
	copy(plain[4:], grid.Clean(p.Host, maxHost))
	b := make([]byte, nonceSize, sealedSize)
	rand.Read(b)
	return aead.Seal(b, b, plain[:], nil), nil
}

// unseal returns the process in what seal returned for the same key; the zero value if it is not that.
func unseal(key ed25519.PrivateKey, b []byte) (p Process) {
	aead, err := sealer(key)
	if err != nil || len(b) != sealedSize {
		return p
	}
	plain, err := aead.Open(nil, b[:nonceSize], b[nonceSize:], nil)
	if err != nil {
		return p
	}
	host, _, _ := bytes.Cut(plain[4:], []byte{0})
	return Process{Number: binary.BigEndian.Uint32(plain), Host: grid.Clean(string(host), maxHost)}
}
