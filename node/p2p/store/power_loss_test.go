package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/internal/crash"
)

// state is the content of a store: a text for each record and each other key.
type state map[string]string

// storeCall is one call of the store that is acknowledged when it returns, and its effect on a state.
type storeCall struct {
	do   func(*Store) error
	made func(state)
}

// storeCalls returns the calls of one run: commits of one page and of many, long records, deletions, other keys,
// alone and in batches.
func storeCalls(run int) (all []storeCall) {
	ctx := context.Background()
	all = append(all, storeCall{func(s *Store) error { _, err := s.NextBoot(grid.NodeID{1}); return err },
		func(m state) { m["boot"] += "+" }})
	commit := func(rs ...grid.Record) {
		all = append(all, storeCall{func(s *Store) error { return s.Commit(rs) }, func(m state) {
			for i := range rs {
				key := rs[i].Entry.ID.String()
				if delete(m, key); !rs[i].Delete {
					m[key] = text(&rs[i])
				}
			}
		}})
	}
	put := func(values state) {
		all = append(all, storeCall{func(s *Store) error {
			b, err := s.Datastore().Batch(ctx)
			for k, v := range values {
				err = errors.Join(err, b.Put(ctx, ds.NewKey(k), []byte(v)))
			}
			return errors.Join(err, b.Commit(ctx))
		}, func(m state) { maps.Copy(m, values) }})
	}
	first := uint32(run * 1000)
	for n := range uint32(4) {
		var batch []grid.Record
		for i := range 5 + 60*n {
			batch = append(batch, task(first+n*200+i))
		}
		commit(batch...)
		gone := batch[0]
		gone.Delete = true
		long := task(first + n)
		long.Entry.Result.Outputs = []grid.File{{Path: strings.Repeat("long", 5000)}}
		commit(gone, long)
		if n == 1 {
			all = append(all, storeCall{(*Store).takeOver, func(state) {}})
		}
		if n == 2 && run == 0 { // more than the log takes
			huge := task(first + 999)
			huge.Entry.Result.Outputs = []grid.File{{Path: strings.Repeat("huge", maxLogged/4)}}
			commit(huge)
		}
		put(state{"/a": fmt.Sprint(run, n), fmt.Sprintf("/%d/%d", run, n): strings.Repeat("v", int(1000*n))})
	}
	return all
}

// text distinguishes a record from an earlier one of its task.
func text(r *grid.Record) string {
	s := r.Entry.Result.Error
	for _, f := range r.Entry.Result.Outputs {
		s += f.Path
	}
	return s
}

const runs = 2

// script makes the calls of all runs in a data folder that does not exist yet, and reports each return.
func script(dir string) error {
	for run := range runs {
		s, err := Open(filepath.Join(dir, "data"))
		if err != nil {
			return err
		}
		for n, a := range storeCalls(run) {
			if err := a.do(s); err != nil {
				return err
			}
			fmt.Println("call", n, "of run", run)
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

func read(s *Store) (state, error) {
	m := state{}
	err := s.Load(func(r *grid.Record) error {
		m[r.Entry.ID.String()] = text(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := s.Datastore().Query(context.Background(), query.Query{})
	if err != nil {
		return nil, err
	}
	entries, err := found.Rest()
	for _, e := range entries {
		m[e.Key] = string(e.Value)
	}
	if boot := s.boots(); boot > 0 {
		m["boot"] = strings.Repeat("+", boot)
	}
	return m, err
}

// boots returns the count that NextBoot would continue from.
func (s *Store) boots() (n int) {
	s.db.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(metaBucket).Get(bootKey); v != nil {
			n = int(binary.BigEndian.Uint64(v))
		}
		return nil
	})
	return n
}

// After a crash of the machine at any write, with any unsynced data lost or torn, the store opens and holds all
// that was acknowledged, and the call under way as a whole or not at all; its mark counts every start, and none too
// many, or it would not open.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	j := crash.Recorded(t, "store")
	check := checkAcked()
	stride := crash.Stride(13)
	// Kills of the process alone: each replay tries that too, a killed process stands for some of them.
	for n := rand.IntN(5 * stride); n < j.Len(); n += 5 * stride {
		dir := t.TempDir()
		acked, err := crash.Kill("store", dir, n)
		if err == nil {
			err = check(dir, acked)
		}
		if err != nil {
			t.Fatalf("killed at call %d: %v", n, err)
		}
	}
	j.Survives(t, stride, check)
}

// checkAcked returns a check of a data folder by what was acknowledged.
func checkAcked() func(dir string, acked []string) error {
	var want []state // after that many calls
	m := state{}
	for run := range runs {
		for _, a := range storeCalls(run) {
			want = append(want, maps.Clone(m))
			a.made(m)
		}
	}
	want = append(want, m)
	return func(dir string, acked []string) error {
		s, err := Open(filepath.Join(dir, "data"))
		if err != nil {
			return err
		}
		defer s.Close()
		got, err := read(s)
		if err != nil {
			return err
		}
		n := len(acked)
		m, err := readMark(filepath.Join(dir, "data"))
		if started := (n + len(storeCalls(0)) - 1) / len(storeCalls(0)); err != nil || m.boot < uint64(started) {
			return fmt.Errorf("after %d starts the mark tells of %d, %w", started, m.boot, err)
		}
		if cmp.Equal(got, want[n]) || n+1 < len(want) && cmp.Equal(got, want[n+1]) {
			return nil
		}
		return fmt.Errorf("after %d calls it holds neither what they made of it nor what the next one does:\n%s", n,
			cmp.Diff(want[n], got))
	}
}
