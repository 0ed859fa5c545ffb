package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ds "github.com/ipfs/go-datastore"
	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/store/wal"
)

// killed returns the files of a data folder as a kill of the process leaves them.
func killed(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{File, LogFile, MarkFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil {
			files[name] = b
		}
	}
	return files
}

// restored returns a folder with files.
func restored(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// twin is what a store should hold: a text for each task.
type twin map[uint32]string

func (w twin) make(r *grid.Record) {
	i := r.Entry.ID.Task.Index
	switch {
	case !r.Delete:
		w[i] = text(r)
	default:
		for n := i; n <= i+r.Entry.Further; n++ {
			delete(w, n)
		}
	}
}

func twinOf(t *testing.T, s *Store) twin {
	t.Helper()
	w := twin{}
	for _, r := range load(t, s) {
		w[r.Entry.ID.Task.Index] = text(&r)
	}
	return w
}

// Whatever is written, deleted alone and in runs, over and over, through the log or past it, with stops and kills
// between: a store holds what a map does.
func TestStoreIsAMap(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	s, want, how := open(t, dir), twin{}, map[string]int{}
	for n := range 400 {
		var batch []grid.Record
		for range 1 + random.IntN(12) {
			r := task(random.Uint32N(60))
			r.Entry.Result.Error = fmt.Sprint(n)
			if r.Delete = random.IntN(3) == 0; r.Delete && random.IntN(3) == 0 {
				r.Entry.Further = random.Uint32N(20)
			}
			batch = append(batch, r)
			want.make(&r)
		}
		err := error(nil)
		switch random.IntN(12) {
		case 0:
			how["straight"]++
			var changes []byte
			if changes, _, err = appendChanges(nil, batch); err == nil {
				err = s.flush(changes, s.log.state.inUse)
			}
		case 1:
			how["read"]++
			if err = s.Commit(batch); err == nil {
				if d := cmp.Diff(want, twinOf(t, s)); d != "" {
					t.Fatalf("seed %d, commit %d: %s", seed, n, d)
				}
			}
		case 2:
			how["stopped"]++
			err = errors.Join(s.Commit(batch), s.Close())
			s = open(t, dir)
		case 3:
			how["killed"]++
			err = s.Commit(batch)
			left := killed(t, dir)
			s.Close()
			dir = restored(t, left)
			s = open(t, dir)
		default:
			how["committed"]++
			err = s.Commit(batch)
		}
		if err != nil {
			t.Fatalf("seed %d, commit %d: %v", seed, n, err)
		}
	}
	if d := cmp.Diff(want, twinOf(t, s)); d != "" {
		t.Fatalf("seed %d: %s", seed, d)
	}
	t.Log(seed, how)
}

// crashed returns the files of a node that was killed with records in the log, and the records.
func crashed(t *testing.T) (map[string][]byte, []grid.Record) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.NextBoot(legacyOwner); err != nil {
		t.Fatal(err)
	}
	commit := func(records ...grid.Record) {
		if err := s.Commit(records); err != nil {
			t.Fatal(err)
		}
	}
	commit(task(1), task(2))
	load(t, s) // from now on they are in the database
	commit(ofAllKinds()...)
	for n := range uint32(20) {
		gone := task(n)
		gone.Delete = true
		commit(task(n+1), task(n+30), gone)
	}
	files := killed(t, dir)
	return files, load(t, s)
}

// Whatever one to three bits of the log are flipped, the records are those that were written, or the start is refused.
func TestFlippedBitsOfTheLog(t *testing.T) {
	t.Parallel()
	files, written := crashed(t)
	whole := files[LogFile]
	used := len(bytes.TrimRight(whole, "\x00"))
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	count := map[string]int{}
	for n := range flips(t) {
		b := bytes.Clone(whole)
		bits := []int{random.IntN(used * 8)}
		for range random.IntN(3) { // the others are often in the same sector
			next := random.IntN(len(b) * 8)
			if random.IntN(2) == 0 {
				next = bits[0]/8&^(wal.SectorSize-1)*8 + random.IntN(wal.SectorSize*8)
			}
			bits = append(bits, next)
		}
		for _, bit := range bits {
			b[bit/8] ^= 1 << (bit % 8)
		}
		spoilt := map[string][]byte{File: files[File], MarkFile: files[MarkFile], LogFile: b}
		what, err := startDamaged(t.TempDir(), spoilt, written)
		if err != nil {
			t.Fatalf("seed %d, %d, bits %v: %v", seed, n, bits, err)
		}
		count[what]++
	}
	t.Log(count)
}

// A log that is missing, cut, of another time or damaged refuses the start of a node that was not stopped in order,
// each time; after a stop in order it is of no consequence.
func TestLostLog(t *testing.T) {
	files, written := crashed(t)
	older := bytes.Clone(files[LogFile])
	stopped := func() map[string][]byte {
		dir := restored(t, files)
		if err := open(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		return killed(t, dir)
	}()
	newer := func() []byte {
		dir := restored(t, files)
		s := open(t, dir)
		for range 5 { // generations
			load(t, s)
			for n := range uint32(3) {
				if err := s.Commit([]grid.Record{task(50 + n)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return killed(t, dir)[LogFile]
	}()
	damaged := bytes.Clone(older)
	damaged[100] ^= 3
	for name, c := range map[string]struct {
		log   []byte
		words string
	}{
		"missing": {nil, "skep.log is not there, and the node was not stopped in order: want it back as it was"},
		"cut":     {older[:len(older)/2], "the log is damaged: it has 262144 bytes instead of 524288: want it back"},
		"newer":   {newer, "sector 0, at byte 0, is sector 0 of record 0 of generation "},
		"damaged": {damaged, "sector 0, at byte 0, is not as it was written: want it back"},
	} {
		left := map[string][]byte{File: files[File], MarkFile: files[MarkFile]}
		if c.log != nil {
			left[LogFile] = c.log
		}
		dir := restored(t, left)
		for range 2 {
			_, err := Open(dir)
			wantError(t, err, ErrDamaged, dir, c.words)
		}
		s, err := OpenForData(dir) // for another identity
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantError(t, s.Commit([]grid.Record{task(1)}), errNoLog, dir, "without its log")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Open(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: after it was opened without its log: %v", name, err)
		}

		left[File] = stopped[File]
		dir = restored(t, left)
		s = open(t, dir)
		if d := differ(written, load(t, s)); d != "" {
			t.Errorf("%s, after a stop in order: %s", name, d)
		}
		if err := s.Commit([]grid.Record{task(1)}); err != nil {
			t.Fatal(err)
		}
		if d := differ(append(written, task(1)), load(t, open(t, restored(t, killed(t, dir))))); d != "" {
			t.Errorf("%s, after a further commit and a kill: %s", name, d)
		}
	}
}

// A log that was taken over is not taken over again, whenever the process is killed between that and the next commit.
func TestLogIsTakenOverOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	gone := task(1)
	gone.Delete = true
	if err := s.Commit([]grid.Record{task(1), task(2)}); err != nil {
		t.Fatal(err)
	}
	load(t, s)                                       // takes it over
	if err := s.db.Update(func(tx *bbolt.Tx) error { // what a second time would bring back
		r := openRecords(tx)
		return errors.Join(r.apply(change{key: keyBytes(t, &gone)}), r.save())
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		dir = restored(t, killed(t, dir))
		if n := len(load(t, open(t, dir))); n != 1 {
			t.Fatalf("%d records: want 1", n)
		}
	}
}

func keyBytes(t *testing.T, r *grid.Record) (key []byte) {
	t.Helper()
	changes, _, err := appendChanges(nil, []grid.Record{*r})
	if err == nil {
		err = eachChange(changes, func(c change) error { key = c.key; return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// When the log is full the database takes over what it holds, and the log begins anew; its file does not grow.
func TestFullLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	begun := map[uint64]bool{}
	var batch []grid.Record
	for n := range uint32(900) {
		batch = append(batch[:0], task(n))
		for i := range uint32(20) {
			batch = append(batch, task(i))
		}
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
		begun[s.log.state.generation] = true
	}
	if len(begun) < 2 {
		t.Errorf("generations %v: want two or more", begun)
	}
	left := killed(t, dir)
	if n := len(left[LogFile]); n != logSectors*wal.SectorSize {
		t.Errorf("the log has %d bytes", n)
	}
	if n := len(load(t, open(t, restored(t, left)))); n != 900 {
		t.Errorf("%d records: want 900", n)
	}
}

// A commit that is larger than the log is made, after and before smaller ones.
func TestHugeCommit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	huge := task(2)
	huge.Entry.Result.Outputs = []grid.File{{Path: strings.Repeat("p", 2*logSectors*wal.SectorSize)}}
	gone := task(1)
	gone.Delete = true
	for _, batch := range [][]grid.Record{{task(1), task(2)}, {gone, huge}, {task(3)}} {
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
	}
	want := []grid.Record{huge, task(3)}
	if d := cmp.Diff(want, load(t, open(t, restored(t, killed(t, dir))))); d != "" {
		t.Error(d)
	}
}

// Runs of deletions are a few bytes in the log and much work to take over: what they delete in one generation is
// bounded, so that no commit has to pay for many others.
func TestRunsOfDeletionsDoNotPileUp(t *testing.T) {
	s := open(t, t.TempDir())
	run := task(0)
	run.Delete = true
	for further := range uint32(200) {
		run.Entry.Further = 50 * further
		if err := s.Commit([]grid.Record{run}); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, c := range s.log.table.runs {
			sum += int(c.further)
		}
		if sum > maxFurther || sum != s.log.table.further {
			t.Fatalf("the log holds runs of %d entries, and counts %d: want at most %d", sum, s.log.table.further, maxFurther)
		}
	}
}

// After a transaction that failed the database on disk may state the next generation, so that nothing may be appended
// to the log until another one succeeds.
func TestFailedTakeOver(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Commit([]grid.Record{task(1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.flush([]byte("no list"), true); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	before := s.log.state.generation
	if err := s.Commit([]grid.Record{task(2)}); err != nil || s.log.state.generation != before+1 {
		t.Errorf("%v, generation %d after %d", err, s.log.state.generation, before)
	}
	if n := len(load(t, open(t, restored(t, killed(t, dir))))); n != 2 {
		t.Errorf("%d records: want 2", n)
	}
}

// A database of format 3 gets a log; a flipped bit in what the tables say of formats, counts and log is corrected.
func TestConvertFormat3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written := historied(t, dir)
	files := killed(t, dir)
	asFormat3 := func(path string, spoil func(meta *bbolt.Bucket) error) {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *bbolt.Tx) error {
			meta := tx.Bucket(metaBucket)
			return errors.Join(meta.Delete(logKey), meta.Put(formatKey, binary.BigEndian.AppendUint64(nil, 3)),
				saveMeta(tx, openRecords(tx).digest), spoil(meta))
		}); err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	for name, spoil := range map[string]func(meta *bbolt.Bucket) error{
		"sound":     func(*bbolt.Bucket) error { return nil },
		"corrected": func(meta *bbolt.Bucket) error { return meta.Put(formatKey, []byte{0, 0, 0, 0, 0, 0, 0, 7}) },
	} {
		dir := restored(t, files)
		asFormat3(filepath.Join(dir, File), spoil)
		s := open(t, dir)
		if d := differ(written, load(t, s)); d != "" || (s.Found().Corrected == 1) != (name == "corrected") {
			t.Errorf("%s: %s, %+v", name, d, s.Found())
		}
		if v, err := s.Datastore().Get(context.Background(), ds.NewKey("/peers/3")); string(v) != "address" || err != nil {
			t.Errorf("%s: other data is %q, %v", name, v, err)
		}
		s.Close()
		now := mustDump(t, filepath.Join(dir, File))
		if v := now["meta "+fmt.Sprintf("%x", formatKey)]; v != string(binary.BigEndian.AppendUint64(nil, 4)) {
			t.Errorf("%s: it has format %x", name, v)
		}
	}
	for bit := range logStateSize * 8 {
		if testing.Short() && bit%11 != 0 {
			continue
		}
		dir := restored(t, files)
		db, err := bbolt.Open(filepath.Join(dir, File), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		db.NoSync = true
		if err := db.Update(func(tx *bbolt.Tx) error {
			v := bytes.Clone(tx.Bucket(metaBucket).Get(logKey))
			v[bit/8] ^= 1 << (bit % 8)
			return tx.Bucket(metaBucket).Put(logKey, v)
		}); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if what, err := startDamaged(dir, nil, written); what != "corrected" {
			t.Fatalf("bit %d: %s, %v", bit, what, err)
		}
	}
}

// Whatever a record of the log holds, it is a list of changes or an error.
func FuzzChanges(f *testing.F) {
	changes, _, err := appendChanges(nil, append(ofAllKinds(), task(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(changes)
	f.Add([]byte{changeDelete, 4, 1, 2, 3, 4, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		err := eachChange(b, func(c change) error { total += len(c.key) + len(c.value); return nil })
		if total > len(b) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(total, err)
		}
	})
}
