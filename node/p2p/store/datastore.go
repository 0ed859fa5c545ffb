package store

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	"go.etcd.io/bbolt"

	"skep/node/p2p/store/sums"
)

// Datastore returns the part of the database for everything that is not a record. It is also a
// ds.TxnDatastore and a ds.PersistentDatastore. Each Put, Delete and Commit is on disk when it returns, so
// Sync has nothing to do; Close does nothing, for the database is the Store's. While a transaction that is
// not read-only is open, every other writer, Commit of records too, waits: never leave one open, and never
// write outside it from the same goroutine.
func (s *Store) Datastore() ds.Batching { return &datastore{s} }

type datastore struct{ *Store }

var (
	_ ds.TxnDatastore        = (*datastore)(nil)
	_ ds.PersistentDatastore = (*datastore)(nil)
)

func (d *datastore) view(ctx context.Context, f func(reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.db.View(func(tx *bbolt.Tx) error { return f(reader{tx.Bucket(dataBucket)}) })
}

func (d *datastore) update(ctx context.Context, f func(*bbolt.Bucket) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return explain(d.dir, d.db.Update(func(tx *bbolt.Tx) error { return f(tx.Bucket(dataBucket)) }))
}

func (d *datastore) Get(ctx context.Context, key ds.Key) (value []byte, err error) {
	err = d.view(ctx, func(r reader) error { value, err = r.get(key); return err })
	return value, err
}

func (d *datastore) Has(ctx context.Context, key ds.Key) (has bool, err error) {
	err = d.view(ctx, func(r reader) error { has = r.value(key) != nil; return nil })
	return has, err
}

func (d *datastore) GetSize(ctx context.Context, key ds.Key) (size int, err error) {
	err = d.view(ctx, func(r reader) error { size, err = r.size(key); return err })
	if err != nil {
		size = -1
	}
	return size, err
}

// Query copies its results: results that are read slowly must not hold a transaction open, which would keep the
// pages of later ones from being reused.
func (d *datastore) Query(ctx context.Context, q query.Query) (results query.Results, err error) {
	err = d.view(ctx, func(r reader) error { results = r.query(q); return nil })
	return results, err
}

func (d *datastore) Put(ctx context.Context, key ds.Key, value []byte) error {
	return d.update(ctx, func(b *bbolt.Bucket) error { return putData(b, key.Bytes(), value) })
}

func (d *datastore) Delete(ctx context.Context, key ds.Key) error {
	return d.update(ctx, func(b *bbolt.Bucket) error { return b.Delete(key.Bytes()) })
}

func (d *datastore) Sync(ctx context.Context, _ ds.Key) error { return ctx.Err() }

func (d *datastore) Close() error { return nil }

// DiskUsage returns the size of the whole file.
func (d *datastore) DiskUsage(ctx context.Context) (uint64, error) {
	info, err := os.Stat(filepath.Join(d.dir, File))
	if err != nil {
		return 0, explain(d.dir, err)
	}
	return uint64(info.Size()), ctx.Err()
}

// putData writes a value with its sums.
func putData(b *bbolt.Bucket, key, value []byte) error {
	return b.Put(key, sums.Append(nil, key, value))
}

// reader reads inside a transaction. What is not as it was written is not there.
type reader struct{ b *bbolt.Bucket }

// value returns the value of a key, not a copy; nil if there is none.
func (r reader) value(key ds.Key) []byte {
	k := key.Bytes()
	if value, ok := sums.Value(k, r.b.Get(k)); ok {
		return value
	}
	return nil
}

func (r reader) get(key ds.Key) ([]byte, error) {
	if v := r.value(key); v != nil {
		return bytes.Clone(v), nil
	}
	return nil, ds.ErrNotFound
}

func (r reader) size(key ds.Key) (int, error) {
	if v := r.value(key); v != nil {
		return len(v), nil
	}
	return -1, ds.ErrNotFound
}

func (r reader) query(q query.Query) query.Results {
	prefix := []byte(path.Clean("/" + q.Prefix))
	if len(prefix) > 1 {
		prefix = append(prefix, '/') // /a has /a/b below it, not /ab and not itself
	}
	var entries []query.Entry
	c := r.b.Cursor()
	for k, stored := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, stored = c.Next() {
		v, ok := sums.Value(k, stored)
		if !ok {
			continue
		}
		e := query.Entry{Key: string(k), Size: len(v)}
		if !q.KeysOnly {
			e.Value = bytes.Clone(v)
		}
		entries = append(entries, e)
	}
	return query.NaiveQueryApply(q, query.ResultsWithEntries(q, entries))
}
