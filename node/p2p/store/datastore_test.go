package store

import (
	"context"
	"errors"
	"testing"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	dstest "github.com/ipfs/go-datastore/test"
	bolt "go.etcd.io/bbolt/errors"
)

func TestDatastoreSuite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	s := open(t, t.TempDir())
	s.db.NoSync = true    // thousands of single writes; durability is not tested here
	dstest.ElemCount = 30 // the fewest are 20
	dstest.SubtestAll(t, s.Datastore())
}

func TestTransactions(t *testing.T) {
	ctx := context.Background()
	d := open(t, t.TempDir()).Datastore().(ds.TxnDatastore)
	a, b := ds.NewKey("/a"), ds.NewKey("/a/b")
	tx, err := d.NewTransaction(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	value := []byte("1")
	if err := errors.Join(tx.Put(ctx, a, value), tx.Put(ctx, b, value)); err != nil {
		t.Fatal(err)
	}
	value[0] = 'x'
	if v, err := tx.Get(ctx, a); string(v) != "1" || err != nil {
		t.Errorf("inside: %q, %v", v, err)
	}
	if has, _ := d.Has(ctx, a); has {
		t.Error("seen outside before Commit")
	}
	r, err := tx.Query(ctx, query.Query{Prefix: "/a", KeysOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if es, err := r.Rest(); len(es) != 1 || es[0].Key != "/a/b" || err != nil {
		t.Errorf("inside: %v, %v", es, err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	tx.Discard(ctx)
	if _, err := tx.Get(ctx, a); !errors.Is(err, bolt.ErrTxClosed) {
		t.Errorf("after Commit: %v", err)
	}
	if v, err := d.Get(ctx, a); string(v) != "1" || err != nil {
		t.Errorf("after Commit: %q, %v", v, err)
	}

	tx, _ = d.NewTransaction(ctx, false)
	if err := tx.Delete(ctx, a); err != nil {
		t.Fatal(err)
	}
	if has, err := tx.Has(ctx, a); has || err != nil {
		t.Error("seen inside after Delete")
	}
	tx.Discard(ctx)
	if n, err := d.GetSize(ctx, a); n != 1 || err != nil {
		t.Errorf("after Discard: %d, %v", n, err)
	}

	tx, _ = d.NewTransaction(ctx, true)
	defer tx.Discard(ctx)
	if err := tx.Put(ctx, a, nil); err == nil {
		t.Error("a read-only transaction writes")
	}
	if n, err := tx.GetSize(ctx, ds.NewKey("/none")); n != -1 || !errors.Is(err, ds.ErrNotFound) {
		t.Errorf("%d, %v", n, err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Error(err)
	}
}

func TestDatastoreContextAndUsage(t *testing.T) {
	s := open(t, t.TempDir())
	d := s.Datastore()
	ctx, cancel := context.WithCancel(context.Background())
	if n, err := d.(ds.PersistentDatastore).DiskUsage(ctx); n < 4096 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := d.Put(ctx, ds.NewKey("/empty"), nil); err != nil {
		t.Fatal(err)
	}
	if has, err := d.Has(ctx, ds.NewKey("/empty")); !has || err != nil {
		t.Errorf("an empty value: %v, %v", has, err)
	}
	cancel()
	_, err := d.Get(ctx, ds.NewKey("/a"))
	for _, err := range []error{err, d.Put(ctx, ds.NewKey("/a"), nil), d.Sync(ctx, ds.Key{})} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	s.Close()
	if err := d.Put(context.Background(), ds.NewKey("/a"), nil); !errors.Is(err, bolt.ErrDatabaseNotOpen) {
		t.Errorf("after Close: %v", err)
	}
}
