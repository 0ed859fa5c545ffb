package store

import (
	"bytes"
	"context"
	"errors"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	"go.etcd.io/bbolt"
	bolt "go.etcd.io/bbolt/errors"
)

// Batch returns a list of writes that Commit carries out in order, in one transaction.
func (d *datastore) Batch(ctx context.Context) (ds.Batch, error) { return &batch{d: d}, ctx.Err() }

type batch struct {
	d   *datastore
	ops []op
}

type op struct {
	key, value []byte
	remove     bool
}

func (b *batch) Put(ctx context.Context, key ds.Key, value []byte) error {
	b.ops = append(b.ops, op{key: key.Bytes(), value: bytes.Clone(value)})
	return ctx.Err()
}

func (b *batch) Delete(ctx context.Context, key ds.Key) error {
	b.ops = append(b.ops, op{key: key.Bytes(), remove: true})
	return ctx.Err()
}

func (b *batch) Commit(ctx context.Context) error {
	if len(b.ops) == 0 {
		return ctx.Err()
	}
	return b.d.update(ctx, func(bucket *bbolt.Bucket) error {
		for _, o := range b.ops {
			var err error
			if o.remove {
				err = bucket.Delete(o.key)
			} else {
				err = putData(bucket, o.key, o.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// NewTransaction begins a transaction. See Datastore for what an open one blocks.
func (d *datastore) NewTransaction(ctx context.Context, readOnly bool) (ds.Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tx, err := d.db.Begin(!readOnly)
	if err != nil {
		return nil, explain(d.dir, err)
	}
	return &txn{tx: tx, reader: reader{tx.Bucket(dataBucket)}, dir: d.dir}, nil
}

type txn struct {
	reader
	tx  *bbolt.Tx
	dir string
}

// open returns an error if the transaction cannot be used any more.
func (t *txn) open(ctx context.Context) error {
	if t.tx.DB() == nil {
		return bolt.ErrTxClosed
	}
	return ctx.Err()
}

func (t *txn) Get(ctx context.Context, key ds.Key) ([]byte, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	return t.get(key)
}

func (t *txn) Has(ctx context.Context, key ds.Key) (bool, error) {
	if err := t.open(ctx); err != nil {
		return false, err
	}
	return t.value(key) != nil, nil
}

func (t *txn) GetSize(ctx context.Context, key ds.Key) (int, error) {
	if err := t.open(ctx); err != nil {
		return -1, err
	}
	return t.size(key)
}

func (t *txn) Query(ctx context.Context, q query.Query) (query.Results, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	return t.query(q), nil
}

func (t *txn) Put(ctx context.Context, key ds.Key, value []byte) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	return putData(t.b, key.Bytes(), value)
}

func (t *txn) Delete(ctx context.Context, key ds.Key) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	return t.b.Delete(key.Bytes())
}

func (t *txn) Commit(ctx context.Context) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	if !t.tx.Writable() {
		return t.tx.Rollback()
	}
	return explain(t.dir, t.tx.Commit())
}

func (t *txn) Discard(context.Context) {
	if err := t.tx.Rollback(); err != nil && !errors.Is(err, bolt.ErrTxClosed) {
		panic("store: a transaction that can neither be committed nor discarded: " + err.Error())
	}
}
