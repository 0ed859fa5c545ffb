package wire

import (
	"errors"

	"skep/grid"
)

// Codec turns messages into bytes and back.
type Codec struct{}

// Append appends m's encoding to dst.
func (c *Codec) Append(dst []byte, m *grid.Message, seal func(*grid.Ad) []byte) ([]byte, error) {
	return dst, errors.ErrUnsupported
}

// Decode reads what Append wrote.
func (c *Codec) Decode(b []byte, m *grid.Message, open func(sealed []byte) (*grid.Ad, error)) error {
	return errors.ErrUnsupported
}

// Limit returns the largest encoded size of a message of the kind in bytes.
func Limit(k grid.Kind) int { return 2 << 20 }
