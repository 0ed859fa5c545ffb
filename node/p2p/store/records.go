package store

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/store/sums"
	"skep/node/p2p/wire"
)

// Commit writes records in order, deletions too, together and with one sync: after it returns nil they are on disk,
// after an error none of them counts. An error, such as ErrFull or ErrGone, is fatal to a node: it may show nothing
// that it could not save. The records are not retained.
func (s *Store) Commit(records []grid.Record) error {
	if len(records) == 0 {
		return nil
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.none {
		return explain(s.dir, errNoLog)
	}
	changes, further, err := appendChanges(s.buf[:0], records)
	if err == nil {
		err = s.logChanges(changes, further)
	}
	if err == nil {
		err = s.checkNames()
	}
	if err == nil {
		s.saved.now.Store(s.log.state.number(s.log.count))
	}
	return explain(s.dir, err)
}

// apply makes a change. It deletes by key: a cursor would step through all pages that are empty already, again for each
// entry.
func (r *records) apply(c change) error {
	if c.value != nil {
		return r.put(c.key, c.value)
	}
	return c.eachKey(r.remove)
}

// takeOver puts what the log holds into the database, for whoever reads that.
func (s *Store) takeOver() error {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.table.empty() {
		return nil
	}
	return s.flush(nil, true)
}

// Load calls f with every record, ordered by kind and ID, until f returns an error. f may keep records but must not
// use the store. A record that cannot be read is ErrNewer or ErrDamaged.
func (s *Store) Load(f func(*grid.Record) error) error {
	if s.log.none {
		return explain(s.dir, errNoLog)
	}
	if err := s.takeOver(); err != nil {
		return explain(s.dir, err)
	}
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
	value, ok := sums.Value(key, stored)
	if len(stored) > 0 && stored[0] == sums.Unsummed {
		value, ok = stored, true
	}
	if ok {
		return wire.DecodeRecord(key, value)
	}
	if len(stored) > 0 && stored[0] > sums.Framed {
		return nil, fmt.Errorf("record: %w %d: this Skep reads %d", wire.ErrVersion, stored[0], sums.Framed)
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
