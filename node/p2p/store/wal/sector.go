package wal

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// SectorSize is the unit that a disk writes as a whole or not at all, in bytes. A record begins a sector of its own, so
// that no write touches a sector of an earlier record.
const SectorSize = 512

// Layout of a sector: mark, three zeros, index of the sector in its record, generation, number of the record in the
// generation, length of the record in bytes, content, sum of all that, and the mark again. The last sector of a record
// is filled up with zeros.
const (
	indexAt      = 4
	generationAt = 8
	recordAt     = 16
	lengthAt     = 20
	contentAt    = 24
	sumAt        = SectorSize - 9
	endMarkAt    = SectorSize - 1

	// Content is the number of a record's bytes that a sector has.
	Content = sumAt - contentAt
)

// A sector has one of two marks in its first and in its last byte, the one that its predecessor at that place did not
// have in the last. So where a file system has written the beginning of a sector and not its end the marks differ, and
// where bits of a whole sector were flipped they do not: they differ from each other in all eight bits.
const (
	markZero = 0x00
	markOnes = 0xff
)

// mark is what a byte was, whatever up to three of its bits are now.
func mark(b byte) byte {
	if bits.OnesCount8(b) > 4 {
		return markOnes
	}
	return markZero
}

// place is where a sector belongs.
type place struct {
	generation uint64
	record     uint32 // counted in its generation from 0
	index      uint32 // counted in its record from 0
}

// before reports whether p's record was written before that of q.
func (p place) before(q place) bool {
	return p.generation < q.generation || p.generation == q.generation && p.record < q.record
}

// head is what a sector says of itself.
type head struct {
	place
	length uint32 // of the record, in bytes
}

// sectors returns how many sectors a record of that many bytes has; one of none has one.
func sectors(length int) int { return max(1, (length+Content-1)/Content) }

// putSector writes a sector: as much of content as it holds. It returns the rest.
func putSector(b []byte, mark byte, h head, content []byte) (rest []byte) {
	clear(b)
	b[0], b[endMarkAt] = mark, mark
	binary.BigEndian.PutUint32(b[indexAt:], h.index)
	binary.BigEndian.PutUint64(b[generationAt:], h.generation)
	binary.BigEndian.PutUint32(b[recordAt:], h.record)
	binary.BigEndian.PutUint32(b[lengthAt:], h.length)
	n := copy(b[contentAt:sumAt], content)
	binary.BigEndian.PutUint64(b[sumAt:], xxhash.Sum64(b[:sumAt]))
	return content[n:]
}

// state is what a sector is.
type state uint8

const (
	blank   state = iota // never written
	whole                // as it was written
	half                 // its beginning was written, and its end was not
	damaged              // neither
)

func stateOf(b []byte) state {
	switch {
	case isWhole(b):
		return whole
	case isBlank(b):
		return blank
	case mark(b[0]) != mark(b[endMarkAt]):
		return half
	}
	return damaged
}

func isWhole(b []byte) bool {
	return b[0] == b[endMarkAt] && (b[0] == markZero || b[0] == markOnes) &&
		binary.BigEndian.Uint64(b[sumAt:]) == xxhash.Sum64(b[:sumAt])
}

func isBlank(b []byte) bool {
	for len(b) > 0 {
		if binary.NativeEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	return true
}

// correct flips back the bit that accounts for the damage of a sector, if a single one does: the sums have 64 bits, so
// that another bit fits by chance for one in 2^52 sectors.
func correct(b []byte) bool {
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if isWhole(b) || isBlank(b) {
				return true
			}
			b[i] ^= 1 << bit
		}
	}
	return false
}

// headOf returns what a whole sector says of itself.
func headOf(b []byte) head {
	return head{place{binary.BigEndian.Uint64(b[generationAt:]), binary.BigEndian.Uint32(b[recordAt:]),
		binary.BigEndian.Uint32(b[indexAt:])}, binary.BigEndian.Uint32(b[lengthAt:])}
}
