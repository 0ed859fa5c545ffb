package store

import (
	"context"
	"encoding/binary"
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
	"skep/node/p2p/store/sums"
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

// differ says how the records that are read differ from those that were written, where that is more than that
// measurements and checkpoints are missing.
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
		if !reflect.DeepEqual(want, r) {
			return cmp.Diff(want, r)
		}
		delete(left, keyOf(r))
	}
	for _, r := range left {
		if r.Kind != grid.RecClass && r.Kind != grid.RecCheckpoint {
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

// Whatever one to three bits of the file are flipped, the records are those that were written, or the start is
// refused; and what was started once is sound at the next start.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
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
		what, err := startDamaged(t.TempDir(), map[string][]byte{File: b}, written)
		if err != nil {
			t.Fatalf("seed %d, %d, bits %v: %v", seed, n, at, err)
		}
		count[what]++
	}
	t.Log(count)
}

// startDamaged opens a database twice, and says what came of it; an error is what must not be.
func startDamaged(dir string, files map[string][]byte, written []grid.Record) (what string, err error) {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", err
		}
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

// damage flips two bits in the last byte of the records that are chosen, which cannot be corrected.
func damage(t *testing.T, s *Store, chosen func(key, stored []byte) bool) {
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(recordBucket)
		return b.ForEach(func(key, stored []byte) error {
			if !chosen(key, stored) {
				return nil
			}
			stored = append([]byte(nil), stored...)
			stored[len(stored)-1] ^= 3
			return b.Put(key, stored)
		})
	}); err != nil {
		t.Fatal(err)
	}
}

// Two flipped bits in a record cannot be corrected. Measurements and checkpoints are dropped; of any other the start is
// refused, and says which.
func TestLostRecords(t *testing.T) {
	for kind, want := range map[grid.RecordKind]string{
		grid.RecWork: "of attempt ", grid.RecRegister: "of job ", grid.RecTombstone: "of the ended job ",
		grid.RecEntry: "of task ", grid.RecClass: "", grid.RecCheckpoint: "",
	} {
		dir := t.TempDir()
		s := open(t, dir)
		if err := s.Commit(append(ofAllKinds(), task(1))); err != nil {
			t.Fatal(err)
		}
		written, lost := load(t, s), 0
		damage(t, s, func(key, _ []byte) bool {
			if key[0] != byte(kind) {
				return false
			}
			lost++
			return true
		})
		s.Close()
		if lost == 0 {
			t.Fatalf("no record of kind %d", kind)
		}
		if want != "" {
			_, err := Open(dir)
			wantError(t, err, ErrDamaged, dir, "what skep.db says "+want)
			continue
		}
		s = open(t, dir)
		read := load(t, s)
		if d := differ(written, read); d != "" || len(read) != len(written)-lost || s.Found().Dropped != lost {
			t.Errorf("%d of %d records, %+v: %s", len(read), len(written), s.Found(), d)
		}
		s.Close()
		if s = open(t, dir); s.Found() != (Damage{}) {
			t.Errorf("found again: %+v", s.Found())
		}
	}
}

// Records that have no sums yet are covered by the digest alone, whatever else is damaged.
func TestDigestCoversRecordsWithoutSums(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Commit(append(ofAllKinds(), task(1))); err != nil {
		t.Fatal(err)
	}
	load(t, s)                                       // from now on they are in the database
	if err := s.db.Update(func(tx *bbolt.Tx) error { // as before format 3
		b := openRecords(tx)
		var key, value []byte
		if err := b.ForEach(func(k, stored []byte) error {
			if k[0] == byte(grid.RecEntry) {
				v, _ := sums.Value(k, stored)
				key, value = append([]byte(nil), k...), append([]byte(nil), v...)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := b.put(key, value); err != nil {
			return err
		}
		return b.save()
	}); err != nil {
		t.Fatal(err)
	}
	damage(t, s, func(key, stored []byte) bool { return key[0] == byte(grid.RecClass) || stored[0] == sums.Unsummed })
	s.Close()
	_, err := Open(dir)
	wantError(t, err, ErrDamaged, dir, "are not the")
}

// A flipped bit in the number of the format is no newer format, and no older one.
func TestFlippedFormat(t *testing.T) {
	dir := t.TempDir()
	written := historied(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	for _, bit := range []int{0, 1, 2, 8, 31, 63} {
		at := t.TempDir()
		if err := os.WriteFile(filepath.Join(at, File), whole, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bbolt.Open(filepath.Join(at, File), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, binary.BigEndian.AppendUint64(nil, format^1<<bit))
		}); err != nil {
			t.Fatal(err)
		}
		db.Close()
		spoilt := map[string][]byte{File: mustRead(t, filepath.Join(at, File))}
		if what, err := startDamaged(at, spoilt, written); what != "corrected" {
			t.Fatalf("bit %d: %s, %v", bit, what, err)
		}
	}
}

func mustRead(t *testing.T, file string) []byte {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A page whose count of entries is less than it was is in order, and each of its entries sound.
func TestVanishedRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Commit([]grid.Record{task(1), task(2)}); err != nil {
		t.Fatal(err)
	}
	load(t, s) // from now on they are in the database
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
