package wire

import (
	"errors"

	"skep/grid"
)

// AppendRecord returns r's key and value.
func AppendRecord(dst []byte, r *grid.Record) (key, value []byte, err error) {
	return nil, nil, errors.ErrUnsupported
}

// DecodeRecord reads what AppendRecord wrote.
func DecodeRecord(key, value []byte) (*grid.Record, error) { return nil, errors.ErrUnsupported }
