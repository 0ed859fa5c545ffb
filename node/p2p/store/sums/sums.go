package sums

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Each value of the tables records and data is framed: a version byte, a sum of key and value, and a sum of the key
// alone. The first says whether the entry is as it was written, also that it is under the key under which it was
// written. The second says of one that is not whether its key can be believed, and so what was lost.
//
// Values of records that a version before format 3 has written begin with byte 1 and have no sums, until they are
// written again. The digest of the table covers them.

// Versions of entries.
const (
	Unsummed = 1 // first byte of a record without sums
	Framed   = 2 // first byte of a value with sums
)

const (
	sumAt     = 1
	keySumAt  = sumAt + 8
	frameSize = keySumAt + 4
)

// Append appends a value with its sums to dst.
func Append(dst, key, value []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, Framed), sum(key, value))
	return append(binary.BigEndian.AppendUint32(dst, keySum(key)), value...)
}

// sum returns the sum of an entry. The length of the key is its seed, so that no byte can pass from one to the other.
func sum(key, value []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(uint64(len(key)))
	d.Write(key)
	d.Write(value)
	return d.Sum64()
}

func keySum(key []byte) uint32 { return uint32(xxhash.Sum64(key)) }

func isFramed(stored []byte) bool { return len(stored) >= frameSize && stored[0] == Framed }

// Value returns the value of an entry, and whether its sum is right.
func Value(key, stored []byte) (value []byte, ok bool) {
	if !isFramed(stored) {
		return nil, false
	}
	value = stored[frameSize:]
	return value, binary.BigEndian.Uint64(stored[sumAt:]) == sum(key, value)
}

// KeyHolds reports whether the sum of the key alone is right.
func KeyHolds(key, stored []byte) bool {
	return isFramed(stored) && binary.BigEndian.Uint32(stored[keySumAt:]) == keySum(key)
}

// SumOf returns what an entry adds to the digest of its table: the sum that it states, whether or not that is right.
func SumOf(key, stored []byte) uint64 {
	if isFramed(stored) {
		return binary.BigEndian.Uint64(stored[sumAt:])
	}
	return sum(key, stored)
}

// maxCorrected is the size of the largest entry in which a flipped bit is looked for: the time grows with its square,
// and is a quarter of a second then.
const maxCorrected = 16 << 10

// Corrected returns a damaged entry as it was written, if one flipped bit accounts for the damage. That another entry
// than the one that was written has a right sum is as likely as that one of its bits is a hit among 2^64.
func Corrected(key, stored []byte) (k, v []byte, ok bool) {
	if len(key)+len(stored) > maxCorrected {
		return nil, nil, false
	}
	both := append(bytes.Clone(key), stored...)
	k, v = both[:len(key):len(key)], both[len(key):]
	right := func() bool {
		_, ok := Value(k, v)
		return ok
	}
	return k, v, right() || FlipBack(both, right)
}

// FlipBack flips each bit of b in turn, until right says that b is as it was.
func FlipBack(b []byte, right func() bool) bool {
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if right() {
				return true
			}
			b[i] ^= 1 << bit
		}
	}
	return false
}
