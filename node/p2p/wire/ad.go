package wire

import (
	"crypto/ed25519"
	"errors"

	"skep/grid"
)

// Seal returns a's signed bytes.
func Seal(key ed25519.PrivateKey, a *grid.Ad) ([]byte, error) { return nil, errors.ErrUnsupported }

// Open checks and reads sealed bytes.
func Open(sealed []byte) (*grid.Ad, error) { return nil, errors.ErrUnsupported }
