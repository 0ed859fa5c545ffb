package store

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Commit writes records in order, deletions too, in one transaction with one fsync: after it returns nil they are
// on disk, after an error none of them is. An error, such as ErrFull or ErrGone, is fatal to a node: it may show
// nothing that it could not save. The records are not retained.
func (s *Store) Commit(records []grid.Record) error {
	if len(records) == 0 {
		return nil
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(recordBucket)
		buf := s.buf[:0]
		for i := range records {
			key, value, err := wire.AppendRecord(buf, &records[i])
			if err != nil {
				return err
			}
			if records[i].Delete {
				err = bucket.Delete(key)
			} else {
				err = bucket.Put(key, value)
			}
			if err != nil {
				return fmt.Errorf("record %d of %d: %w", i+1, len(records), err)
			}
			// bbolt keeps values until the transaction ends: the next record is appended behind them.
			if buf = value; value == nil {
				buf = key
			}
			buf = buf[len(buf):]
		}
		return nil
	})
	if err == nil {
		err = s.checkName()
	}
	return explain(s.dir, err)
}

// Load calls f with every record, ordered by kind and ID, until f returns an error. f may keep records but must not
// use the store. A record that cannot be read is ErrNewer or ErrDamaged.
func (s *Store) Load(f func(*grid.Record) error) error {
	return explain(s.dir, s.db.View(func(tx *bbolt.Tx) error {
		var key, value []byte
		var r *grid.Record
		c := tx.Bucket(recordBucket).Cursor()
		next := c.First
		for {
			err := recoverPanic(func() (err error) {
				if key, value = next(); key == nil {
					return nil
				}
				r, err = wire.DecodeRecord(key, value)
				return err
			})
			switch {
			case errors.Is(err, wire.ErrVersion):
				return fmt.Errorf("%w: %w", ErrNewer, err)
			case err != nil && !errors.Is(err, ErrDamaged):
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			case err != nil || key == nil:
				return err
			}
			if err := f(r); err != nil {
				return err
			}
			next = c.Next
		}
	}))
}
