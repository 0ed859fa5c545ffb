package sums

import (
	"skep/grid"
	"skep/node/p2p/wire"
)

// Verdict is what the sums say of a stored record.
type Verdict uint8

// Verdicts.
const (
	Sound      Verdict = iota // it is as it was written, or has no sums
	Mended                    // one bit was flipped, and is flipped back
	Expendable                // it is not as it was written, and is measured or written anew
	Lost                      // it is not as it was written: what was promised with it is not known any more
	Unknown                   // the same, and its key cannot be believed
	Newer                     // it was written by a later version
)

// CheckRecord returns what the sums say of a stored record, and the record as it was written if that is known.
func CheckRecord(key, stored []byte) (v Verdict, k, value []byte) {
	if len(stored) > 0 && stored[0] == Unsummed {
		return Sound, key, stored
	}
	if _, ok := Value(key, stored); ok && KeyHolds(key, stored) {
		return Sound, key, stored
	}
	if k, x, ok := Corrected(key, stored); ok {
		return Mended, k, Reframed(k, x)
	}
	switch kind, name := wire.NameRecord(key); {
	case len(stored) > 0 && stored[0] > Framed:
		return Newer, nil, nil
	case name == "" || !KeyHolds(key, stored):
		return Unknown, nil, nil
	case kind == grid.RecClass, kind == grid.RecCheckpoint:
		return Expendable, nil, nil
	}
	return Lost, nil, nil
}

// Reframed returns a sound entry's value with the sum of its key, which may be damaged, written anew.
func Reframed(key, stored []byte) []byte {
	value, _ := Value(key, stored)
	return Append(nil, key, value)
}
