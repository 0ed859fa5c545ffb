package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ds "github.com/ipfs/go-datastore"
	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/wire"
)

// ofAllKinds returns one record of each kind.
func ofAllKinds() []grid.Record {
	all := unchangedRecords()
	tomb := grid.Record{Kind: grid.RecTombstone, Tombstone: grid.TombstoneRecord{ID: legacyID(77), Epoch: 3, Tasks: 9}}
	point := grid.Record{Kind: grid.RecCheckpoint, Checkpoint: &grid.CheckpointRecord{Step: 4,
		Files: []grid.File{{Path: "state", Blob: grid.BlobID{4}, Size: 4}}}}
	point.Checkpoint.ID = grid.AttemptID{Task: grid.TaskID{Job: legacyID(78)}, Attempt: grid.Attempt{Epoch: 1, N: 2}}
	return append(all, tomb, point)
}

// keyOf returns what tells records apart.
func keyOf(r *grid.Record) string {
	c := *r
	c.Delete = true
	key, _, err := wire.AppendRecord(nil, &c)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", key)
}

// differ says how the records that are read differ from those that were written, where that is more than that some
// are lost and told so, or measurements are missing.
func differ(written, read []grid.Record) string {
	left := map[string]*grid.Record{}
	for i := range written {
		left[keyOf(&written[i])] = &written[i]
	}
	for i := range read {
		r := &read[i]
		want := left[keyOf(r)]
		if want == nil {
			return fmt.Sprintf("%+v was never written, or is there twice", r)
		}
		if !r.Lost && !reflect.DeepEqual(want, r) {
			return cmp.Diff(want, r)
		}
		delete(left, keyOf(r))
	}
	for _, r := range left {
		if r.Kind != grid.RecClass {
			return keyOf(r) + " is missing"
		}
	}
	return ""
}

// historied makes a database in which much was written anew and deleted, and returns its records.
func historied(t testing.TB, dir string) []grid.Record {
	s := open(t, dir)
	if _, err := s.NextBoot(legacyOwner); err != nil {
		t.Fatal(err)
	}
	for n := range uint32(12) {
		var batch []grid.Record
		for i := range uint32(40) {
			r := task(n*25 + i)
			r.Delete = (n+i)%7 == 3
			batch = append(batch, r)
		}
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
		key := ds.NewKey(fmt.Sprint("/peers/", n))
		if err := s.Datastore().Put(context.Background(), key, []byte("address")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(ofAllKinds()); err != nil {
		t.Fatal(err)
	}
	var all []grid.Record
	if err := s.Load(func(r *grid.Record) error { all = append(all, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// flips is how many damaged databases TestFlippedBits opens; SKEP_FLIPS names another number.
func flips(t testing.TB) (n int) {
	n = 40
	if v := os.Getenv("SKEP_FLIPS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Whatever one to three bits of the file are flipped, the records are those that were written, or are said to be lost,
// or the start is refused; and what was started once is sound at the next start.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	written := historied(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	used := len(strings.TrimRight(string(whole), "\x00"))
	seed := rand.Uint64()
	t.Logf("seed %d, %d bytes", seed, used)
	random := rand.New(rand.NewPCG(seed, 1))
	count := map[string]int{}
	for n := range flips(t) {
		b := append([]byte(nil), whole...)
		var at []int
		for range 1 + random.IntN(3) {
			bit := random.IntN(used * 8)
			b[bit/8] ^= 1 << (bit % 8)
			at = append(at, bit)
		}
		what, err := startDamaged(t.TempDir(), b, written)
		if err != nil {
			t.Fatalf("seed %d, %d, bits %v: %v", seed, n, at, err)
		}
		count[what]++
	}
	t.Log(count)
}

// startDamaged opens a database twice, and says what came of it; an error is what must not be.
func startDamaged(dir string, file []byte, written []grid.Record) (what string, err error) {
	if err := os.WriteFile(filepath.Join(dir, File), file, 0o600); err != nil {
		return "", err
	}
	for again := range 2 {
		s, err := Open(dir)
		var read []grid.Record
		if err == nil {
			err = s.Load(func(r *grid.Record) error { read = append(read, *r); return nil })
			s.Close()
		}
		switch known := errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer); {
		case err != nil && (again > 0 || !known || strings.Contains(err.Error(), "\n")):
			return "", fmt.Errorf("start %d: %w", again, err)
		case err != nil:
			return "refused", nil
		}
		if d := differ(written, read); d != "" {
			return "", errors.New(d)
		}
		switch found := s.Found(); {
		case again > 0 && found.Corrected+found.Dropped > 0:
			return "", fmt.Errorf("found again: %+v", found)
		case again > 0:
		case found.Lost > 0:
			what = "lost and told"
		case found.Corrected > 0:
			what = "corrected"
		case found.Dropped > 0:
			what = "learned anew"
		default:
			what = "of no consequence"
		}
	}
	return what, nil
}

// Two flipped bits in a record of each kind cannot be corrected: it is lost, and its key is told until it is written
// anew. A measurement is dropped.
func TestLostRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Commit(append(ofAllKinds(), task(1))); err != nil {
		t.Fatal(err)
	}
	written := load(t, s)
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(recordBucket)
		return b.ForEach(func(key, stored []byte) error {
			stored = append([]byte(nil), stored...)
			stored[len(stored)-1] ^= 3
			return b.Put(key, stored)
		})
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.Close()
		s = open(t, dir)
		read := load(t, s)
		if d := differ(written, read); d != "" || len(read) != len(written)-1 {
			t.Errorf("%d of %d: %s", len(read), len(written), d)
		}
		for _, r := range read {
			if !r.Lost || r.Kind == grid.RecClass {
				t.Errorf("%s: lost %v", keyOf(&r), r.Lost)
			}
		}
	}
	if err := s.Commit(append(ofAllKinds(), task(1))); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir)
	if d := cmp.Diff(written, load(t, s)); d != "" || s.Found() != (Damage{}) {
		t.Errorf("written anew: %+v, %s", s.Found(), d)
	}
}

// A page whose count of entries is less than it was is in order, and each of its entries sound.
func TestVanishedRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Commit([]grid.Record{task(1), task(2)}); err != nil {
		t.Fatal(err)
	}
	key := []byte{}
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		key, _ = tx.Bucket(recordBucket).Cursor().First()
		return tx.Bucket(recordBucket).Delete(key)
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err := Open(dir)
	wantError(t, err, ErrDamaged, dir, "the 1 records of skep.db are not the 2 that were written")
}
