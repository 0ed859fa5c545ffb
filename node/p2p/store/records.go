package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

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
	err := recoverPanic(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error { return s.write(tx, records) })
	})
	if err == nil {
		err = s.checkName()
	}
	return explain(s.dir, err)
}

// write writes records, and the digest of their table.
func (s *Store) write(tx *bbolt.Tx, records []grid.Record) error {
	table := openRecords(tx)
	buf := s.buf[:0]
	for i := range records {
		key, value, err := wire.AppendRecord(buf, &records[i])
		if err != nil {
			return err
		}
		if records[i].Delete {
			buf = key
			err = deleteRecord(table, key, &records[i])
		} else {
			end := len(value)
			buf = appendFramed(value, key, value)
			err = table.put(key, buf[end:])
		}
		if err != nil {
			return fmt.Errorf("record %d of %d: %w", i+1, len(records), err)
		}
		buf = buf[len(buf):] // bbolt keeps values until the transaction ends: the next record is appended behind them
	}
	return table.save()
}

// deleteRecord deletes a record, and those of the entries that follow it if it says so. It deletes by key: a cursor
// would step through all pages that are empty already, again for each entry.
func deleteRecord(t *records, key []byte, r *grid.Record) error {
	if err := t.remove(key); err != nil || r.Kind != grid.RecEntry || r.Entry.Further == 0 {
		return err
	}
	key = slices.Clone(key)
	index := key[len(key)-4:]
	for range r.Entry.Further {
		binary.BigEndian.PutUint32(index, binary.BigEndian.Uint32(index)+1)
		if err := t.remove(key); err != nil {
			return err
		}
	}
	return nil
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
				r, err = decode(key, value)
				return err
			})
			if err != nil {
				return unreadable(err)
			}
			if key == nil {
				return nil
			}
			if err := f(r); err != nil {
				return err
			}
			next = c.Next
		}
	}))
}

// decode decodes a stored record.
func decode(key, stored []byte) (*grid.Record, error) {
	value, ok := unframed(key, stored)
	if len(stored) > 0 && stored[0] == unsummed {
		value, ok = stored, true
	}
	if ok {
		return wire.DecodeRecord(key, value)
	}
	if len(stored) > 0 && stored[0] > framed {
		return nil, fmt.Errorf("record: %w %d: this Skep reads %d", wire.ErrVersion, stored[0], framed)
	}
	return nil, fmt.Errorf("%w: a record is not as it was written", ErrDamaged)
}

// unreadable returns the error of a record that cannot be read.
func unreadable(err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, wire.ErrVersion):
		return fmt.Errorf("%w: %w", ErrNewer, err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
