package identity

import (
	"crypto/sha256"
	"encoding/hex"
)

// NetworkName identifies a network to people without revealing the secret.
func NetworkName(secret [32]byte) string { return Derive(secret, "name")[:8] }

// Derive returns a name for a purpose that cannot be guessed, nor turned back into the secret, without the secret.
func Derive(secret [32]byte, purpose string) string {
	h := sha256.Sum256(append([]byte("skep "+purpose+"\x00"), secret[:]...))
	return hex.EncodeToString(h[:16])
}
