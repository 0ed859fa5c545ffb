// Package store keeps a node's records on disk.
package store

import (
	"errors"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
)

// Store is a data folder's database.
type Store struct{}

// Open opens the database of a data folder, and makes it if there is none.
func Open(dir string) (*Store, error) { return nil, errors.ErrUnsupported }

// Commit writes records in order, in one transaction.
func (s *Store) Commit(records []grid.Record) error { return errors.ErrUnsupported }

// Load calls f with every record.
func (s *Store) Load(f func(*grid.Record) error) error { return errors.ErrUnsupported }

// Datastore returns the part for everything that is not a record.
func (s *Store) Datastore() ds.Batching { return nil }

// NextBoot counts a start of the node and returns the count, 1 for the first.
func (s *Store) NextBoot() (uint64, error) { return 0, errors.ErrUnsupported }

// Close gives the data folder free.
func (s *Store) Close() error { return errors.ErrUnsupported }
