package store

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// prepare checks the format before anything is written, and creates missing buckets.
func (s *Store) prepare() error {
	fresh := true
	var was []byte
	err := s.db.View(func(tx *bbolt.Tx) (err error) {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return fmt.Errorf("%w: %s is not Skep's", ErrDamaged, File)
			}
			return nil
		}
		fresh = false
		n := formatOf(tx)
		if n == format || meta.Get(digestKey) != nil { // then also the number of the format has a sum
			if was, err = checkMeta(tx); err != nil && n <= format {
				return err
			}
		}
		switch {
		case was != nil: // it is flipped back below
		case n == 0:
			return fmt.Errorf("%w: %s has no format", ErrDamaged, File)
		case n > format:
			return fmt.Errorf("%w (format %d): this one reads format %d", ErrNewer, n, format)
		}
		if tx.Bucket(recordBucket) == nil || tx.Bucket(dataBucket) == nil {
			return fmt.Errorf("%w: %s lacks its tables", ErrDamaged, File)
		}
		return nil
	})
	if err == nil && was != nil {
		s.found.Corrected++
		err = s.db.Update(func(tx *bbolt.Tx) error { return restoreMeta(tx, was) })
	}
	if err != nil || !fresh {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{metaBucket, recordBucket, dataBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return setFormat(tx, digest{})
	})
}

// formatOf returns the format that a database states; 0 = none.
func formatOf(tx *bbolt.Tx) uint64 {
	if v := tx.Bucket(metaBucket).Get(formatKey); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// setFormat makes a database, whose records have that digest, one of today's format.
func setFormat(tx *bbolt.Tx, d digest) error {
	if err := tx.Bucket(metaBucket).Put(formatKey, binary.BigEndian.AppendUint64(nil, format)); err != nil {
		return err
	}
	if err := (logState{}).save(tx); err != nil {
		return err
	}
	return saveMeta(tx, d)
}
