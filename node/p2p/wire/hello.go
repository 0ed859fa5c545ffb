package wire

import (
	"errors"

	"skep/grid"
)

// Version is this version of the protocol.
const Version = 1

// MaxHello bounds an encoded Hello in bytes.
const MaxHello = 512

// Hello is the first frame of a control stream, in both directions.
type Hello struct {
	Version  uint32
	Kinds    grid.KindSet
	Software string
	Boot     uint64
}

// Append appends h's encoding to dst.
func (h *Hello) Append(dst []byte) []byte { return dst }

// Decode reads what Append wrote.
func (h *Hello) Decode(b []byte) error { return errors.ErrUnsupported }
