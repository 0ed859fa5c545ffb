package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"skep/node/p2p/store/sums"
	"skep/node/p2p/wire"
)

// Damage is what Open has found in the content of a database whose pages are in order.
type Damage struct {
	Corrected int // entries, and sectors of the log, in which one bit was flipped: it is flipped back
	Dropped   int // entries of the table data, measurements and checkpoints: they are learned or written anew
}

// Found returns what Open has found damaged.
func (s *Store) Found() Damage { return s.found }

// fix is an entry to be replaced; without a value it is removed.
type fix struct{ old, key, value []byte }

func (f *fix) apply(b *bbolt.Bucket) error {
	if f.value == nil || !bytes.Equal(f.old, f.key) {
		if err := b.Delete(f.old); err != nil {
			return err
		}
	}
	if f.value == nil {
		return nil
	}
	return b.Put(f.key, f.value)
}

// verify checks each entry against its sums and the table of records against its digest, and writes back what can be
// corrected. It is an error if records are lost: what was promised with them is not known any more.
func (s *Store) verify() error {
	var data, entries []fix
	var after digest
	err := s.db.View(func(tx *bbolt.Tx) (err error) {
		if data, err = s.verifyData(tx.Bucket(dataBucket)); err != nil {
			return err
		}
		entries, after, err = s.verifyRecords(openRecords(tx))
		return err
	})
	if err != nil || len(data)+len(entries) == 0 {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		for i := range data {
			if err := data[i].apply(tx.Bucket(dataBucket)); err != nil {
				return err
			}
		}
		for i := range entries {
			if err := entries[i].apply(tx.Bucket(recordBucket)); err != nil {
				return err
			}
		}
		return saveMeta(tx, after)
	})
}

// verifyData returns the entries of the table data to be corrected, and those to be removed.
func (s *Store) verifyData(b *bbolt.Bucket) (fixes []fix, err error) {
	return fixes, recoverPanic(func() error {
		return b.ForEach(func(key, stored []byte) error {
			if _, ok := sums.Value(key, stored); ok && sums.KeyHolds(key, stored) {
				return nil
			}
			f := fix{old: bytes.Clone(key)}
			if k, v, ok := sums.Corrected(key, stored); ok {
				f.key, f.value = k, sums.Reframed(k, v)
				s.found.Corrected++
			} else {
				s.found.Dropped++
			}
			fixes = append(fixes, f)
			return nil
		})
	})
}

// verifyRecords returns the records to be corrected, and those to be removed, and the table's digest after that.
func (s *Store) verifyRecords(r *records) (fixes []fix, after digest, err error) {
	var stated digest
	var removes, withoutSum bool
	err = recoverPanic(func() error {
		return r.ForEach(func(key, stored []byte) error {
			f, err := s.verifyRecord(key, stored)
			if err != nil {
				return err
			}
			withoutSum = withoutSum || stored[0] == sums.Unsummed
			stated.count++
			after.count++
			switch {
			case f == nil:
				stated.sum += sums.SumOf(key, stored)
				after.sum += sums.SumOf(key, stored)
				return nil
			case f.value == nil:
				removes = true
				stated.sum += sums.SumOf(key, stored)
				after.count--
			default:
				stated.sum += sums.SumOf(f.key, f.value)
				after.sum += sums.SumOf(f.key, f.value)
			}
			fixes = append(fixes, *f)
			return nil
		})
	})
	// The damage may be in the sum that a removed entry states; but the digest alone covers records without sums.
	if err == nil && stated != r.digest && (stated.count != r.count || !removes || withoutSum) {
		err = fmt.Errorf("%w: the %d records of %s are not the %d that were written: %s", ErrDamaged, stated.count, File,
			r.count, remedy)
	}
	return fixes, after, err
}

// verifyRecord returns how a record is to be corrected; nil if it is sound.
func (s *Store) verifyRecord(key, stored []byte) (*fix, error) {
	switch verdict, k, v := sums.CheckRecord(key, stored); verdict {
	case sums.Sound: // the digest covers one without sums
		return nil, nil
	case sums.Mended:
		s.found.Corrected++
		return &fix{old: bytes.Clone(key), key: k, value: v}, nil
	case sums.Expendable:
		s.found.Dropped++
		return &fix{old: bytes.Clone(key)}, nil
	case sums.Newer:
		return nil, fmt.Errorf("%w: record of version %d: this one reads %d", ErrNewer, stored[0], sums.Framed)
	case sums.Unknown:
		return nil, fmt.Errorf("%w: a record of %s is not as it was written, and it cannot be told which: %s", ErrDamaged,
			File, remedy)
	default:
		_, name := wire.NameRecord(key)
		return nil, fmt.Errorf("%w: what %s says of %s is not as it was written: %s", ErrDamaged, File, name, remedy)
	}
}
