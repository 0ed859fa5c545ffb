package store

import (
	"encoding/binary"
	"fmt"

	"skep/grid"
	"skep/node/p2p/store/sums"
	"skep/node/p2p/wire"
)

// change is what a commit does to one record, or a deletion of several.
type change struct {
	key     []byte
	value   []byte // framed; nil = it is deleted
	further uint32 // of a deletion: so many entries that follow are deleted too, where there are any
}

// Kinds of changes in the log. A change is its kind, the key with its length before it, and the framed value likewise,
// or the number of further entries. Lengths and numbers are varints.
const (
	changePut    = 1
	changeDelete = 2
)

// appendChanges appends the changes of records, in their order, and returns how many entries they delete beside those
// that they name.
func appendChanges(dst []byte, records []grid.Record) (changes []byte, further int, err error) {
	var buf, framed []byte
	for i := range records {
		key, value, err := wire.AppendRecord(buf[:0], &records[i])
		if err != nil {
			return nil, 0, fmt.Errorf("record %d of %d: %w", i+1, len(records), err)
		}
		if r := &records[i]; r.Delete {
			run := uint32(0)
			if r.Kind == grid.RecEntry {
				run = r.Entry.Further
			}
			dst = appendBytes(append(dst, changeDelete), key)
			dst = binary.AppendUvarint(dst, uint64(run))
			buf, further = key, further+int(run)
			continue
		}
		framed = sums.Append(framed[:0], key, value)
		dst = appendBytes(appendBytes(append(dst, changePut), key), framed)
		buf = value
	}
	return dst, further, nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// eachChange calls f with each change, whose parts are parts of b, until f returns an error. It is ErrDamaged if b is
// not what appendChanges returns.
func eachChange(b []byte, f func(change) error) error {
	bad := func() error { return fmt.Errorf("%w: a record of %s is not a list of changes", ErrDamaged, LogFile) }
	take := func() (v []byte, ok bool) {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, false
		}
		end := size + int(n)
		v, b = b[size:end:end], b[end:]
		return v, true
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		var c change
		var ok bool
		if c.key, ok = take(); !ok || len(c.key) == 0 {
			return bad()
		}
		switch kind {
		case changePut:
			if c.value, ok = take(); !ok {
				return bad()
			}
			if _, ok := sums.Value(c.key, c.value); !ok {
				return bad()
			}
		case changeDelete:
			n, size := binary.Uvarint(b)
			if size <= 0 || n > 1<<32-1 || n > 0 && len(c.key) < 4 {
				return bad()
			}
			c.further, b = uint32(n), b[size:]
		default:
			return bad()
		}
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// eachKey calls f with the key of a change and those of the further entries, until f returns an error. f must not keep
// the key.
func (c change) eachKey(f func(key []byte) error) error {
	if err := f(c.key); err != nil || c.further == 0 {
		return err
	}
	key := append([]byte(nil), c.key...)
	index := key[len(key)-4:]
	for range c.further {
		binary.BigEndian.PutUint32(index, binary.BigEndian.Uint32(index)+1)
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}
