package generations

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"

	"skep/grid"
	"skep/node/generation"
)

var errBusy = errors.New("busy")

// prefix is that of the keys of kept statements, by node.
const prefix = "/generation"

func keyOf(n grid.NodeID) ds.Key { return ds.KeyWithNamespaces([]string{"generation", n.String()}) }

// load restores what earlier processes kept: each value is the wall time when it was heard, in Unix nanoseconds, and
// the statement. What cannot be read is passed over: it is told anew.
func (k *Keeper) load() error {
	results, err := k.cfg.Data.Query(k.work.Context(), query.Query{Prefix: prefix})
	if err != nil {
		return err
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return r.Error
		}
		n, err := grid.ParseNodeID(ds.RawKey(r.Key).BaseNamespace())
		if err != nil || len(r.Value) < 8 {
			continue
		}
		heard := time.Unix(0, int64(binary.BigEndian.Uint64(r.Value)))
		k.book.Restore(n, r.Value[8:], time.Since(heard)) // negative: a wall clock was wrong
	}
	return nil
}

// saveAll saves what is news, at most once a second, in one transaction. It is a help to others, so nothing waits for
// it, and an error costs no more than what it would have told.
func (k *Keeper) saveAll() {
	done := k.work.Context().Done()
	for {
		select {
		case <-done:
			return
		case <-k.unsaved:
		}
		if err := k.save(k.work.Context()); err != nil {
			k.cfg.Log.Debug("generations of peers are not saved", "error", err)
		}
		select {
		case <-done:
			return
		case <-time.After(generation.Interval):
		}
	}
}

func (k *Keeper) save(ctx context.Context) error {
	k.mu.Lock()
	now := k.cfg.Now() - k.began
	evicted := k.book.Evict(now)
	entries := k.book.Unsaved()
	k.mu.Unlock()
	b, err := k.cfg.Data.Batch(ctx)
	if err != nil {
		return err
	}
	for _, n := range evicted {
		err = errors.Join(err, b.Delete(ctx, keyOf(n)))
	}
	for _, e := range entries {
		heard := time.Now().Add(-now.Sub(e.Heard)).UnixNano()
		value := append(binary.BigEndian.AppendUint64(nil, uint64(heard)), e.Signed...)
		err = errors.Join(err, b.Put(ctx, keyOf(e.Node), value))
	}
	if err != nil {
		return err
	}
	return b.Commit(ctx)
}
