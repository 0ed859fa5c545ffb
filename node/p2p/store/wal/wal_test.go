package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/internal/crash"
)

const testSectors = 32

func TestMain(m *testing.M) {
	crash.Main(map[string]func(string) error{"append": appendScript})
	os.Exit(m.Run())
}

// open opens a log, and makes it if there is none.
func open(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path, testSectors)
	if errors.Is(err, fs.ErrNotExist) {
		if err = Create(path, testSectors); err == nil {
			l, err = Open(path, testSectors)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// content returns a record that says which it is.
func content(generation uint64, n, length int) []byte {
	b := []byte(strings.Repeat(fmt.Sprintf("%d/%d ", generation, n), length/4+1))
	return b[:length]
}

var lengths = []int{3, Content, Content + 1, 0, 3*Content - 1, 1, 2 * Content}

func appendAll(l *Log, generation uint64, lengths []int) error {
	for n, length := range lengths {
		if err := l.Append(content(generation, n, length)); err != nil {
			return err
		}
	}
	return nil
}

// written returns a log's file with records of two generations, the second one shorter.
func written(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path)
	for generation, n := range []int{len(lengths), 3} {
		if err := errors.Join(l.Begin(uint64(generation)+5), appendAll(l, uint64(generation)+5, lengths[:n])); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// replayed returns the records that a file has of a generation.
func replayed(file []byte, generation uint64) (records [][]byte, corrected int, err error) {
	corrected, err = replay(bytes.Clone(file), generation, func(b []byte) error {
		records = append(records, b)
		return nil
	})
	return records, corrected, err
}

// differ returns an error unless the records are the first n of a generation.
func differ(records [][]byte, generation uint64, n int) error {
	if len(records) != n {
		return fmt.Errorf("%d records: want %d", len(records), n)
	}
	for i, r := range records {
		if !bytes.Equal(r, content(generation, i, lengths[i])) {
			return fmt.Errorf("record %d is %.40q", i, r)
		}
	}
	return nil
}

// Records of the generation are read in order, and none of another one; a record fits until the last sector is used.
func TestAppendAndReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path)
	if n, err := l.Newest(); n != 0 || err != nil {
		t.Errorf("a new log has generation %d, %v", n, err)
	}
	for generation, n := range map[uint64]int{1: 0, 5: len(lengths), 6: 3, 7: 0} {
		l := open(t, filepath.Join(t.TempDir(), "log"))
		for g := uint64(5); g <= generation; g++ {
			if err := errors.Join(l.Begin(g), appendAll(l, g, lengths[:map[uint64]int{5: len(lengths), 6: 3}[g]])); err != nil {
				t.Fatal(err)
			}
		}
		var records [][]byte
		corrected, err := l.Replay(generation, func(b []byte) error { records = append(records, bytes.Clone(b)); return nil })
		if err = errors.Join(err, differ(records, generation, n)); err != nil || corrected != 0 {
			t.Errorf("generation %d: %v, %d corrected", generation, err, corrected)
		}
	}
	if err := l.Begin(9); err != nil {
		t.Fatal(err)
	}
	if l.Fits(testSectors*Content+1) || !l.Fits(testSectors*Content) {
		t.Error("an empty log does not hold what it has room for")
	}
	if err := l.Append(make([]byte, (testSectors-1)*Content)); err != nil || !l.Fits(Content) || l.Fits(Content+1) {
		t.Errorf("%v, or the last sector is counted wrongly", err)
	}
	if n, err := l.Newest(); n != 9 || err != nil {
		t.Errorf("generation %d, %v", n, err)
	}
	stop := errors.New("stop")
	if _, err := l.Replay(9, func([]byte) error { return stop }); err != stop {
		t.Error(err)
	}
}

// Wherever the writing of the last record was cut short, that record is not there, and those before it are; the records
// of an earlier generation lie beneath, or nothing.
func TestTornTailAtEveryByte(t *testing.T) {
	for _, beneath := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "log")
		l := open(t, path)
		if beneath {
			if err := errors.Join(l.Begin(5), appendAll(l, 5, lengths), l.Begin(6), appendAll(l, 6, lengths[:1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.Begin(7), appendAll(l, 7, lengths[:4])); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		if err := l.Append(content(7, 4, lengths[4])); err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(path)
		begin, end := 0, len(after)
		for before[begin] == after[begin] {
			begin++
		}
		for before[end-1] == after[end-1] {
			end--
		}
		if begin%SectorSize != 0 || end-begin != 3*SectorSize {
			t.Fatalf("bytes %d to %d were written", begin, end)
		}
		for cut := begin; cut <= end; cut++ {
			file := append(bytes.Clone(after[:cut]), before[cut:]...)
			records, corrected, err := replayed(file, 7)
			n := 4
			if cut == end {
				n = 5
			}
			if err = errors.Join(err, differ(records, 7, n)); err != nil || corrected != 0 {
				t.Fatalf("cut at byte %d of %d to %d, beneath %v: %v, %d corrected", cut, begin, end, beneath, err, corrected)
			}
		}
		for lost := range 1 << 3 { // sectors in any order
			file := bytes.Clone(after)
			for i := range 3 {
				if at := begin + i*SectorSize; lost>>i&1 == 1 {
					copy(file[at:at+SectorSize], before[at:])
				}
			}
			records, _, err := replayed(file, 7)
			n := 4
			if lost == 0 {
				n = 5
			}
			if err = errors.Join(err, differ(records, 7, n)); err != nil {
				t.Fatalf("without the sectors %03b: %v", lost, err)
			}
		}
	}
}

// One flipped bit anywhere is corrected; two or three are corrected where they are in different sectors, and otherwise
// reported. Never is a record lost or another one than was written.
func TestFlippedBits(t *testing.T) {
	whole := written(t)
	used := 0
	for _, length := range lengths[:3] {
		used += sectors(length) * SectorSize
	}
	for bit := range used * 8 {
		if testing.Short() && bit%37 != 0 {
			continue
		}
		file := bytes.Clone(whole)
		file[bit/8] ^= 1 << (bit % 8)
		records, corrected, err := replayed(file, 6)
		if err = errors.Join(err, differ(records, 6, 3)); err != nil || corrected != 1 {
			t.Fatalf("bit %d: %v, %d corrected", bit, err, corrected)
		}
	}
	seed := rand.Uint64()
	random, count := rand.New(rand.NewPCG(seed, 1)), map[bool]int{}
	for range 2000 {
		file := bytes.Clone(whole)
		bits := []int{random.IntN(used * 8)} // the others are in its sector, or anywhere
		for range 1 + random.IntN(2) {
			next := random.IntN(len(file) * 8)
			if random.IntN(2) == 0 {
				next = bits[0]/8&^(SectorSize-1)*8 + random.IntN(SectorSize*8)
			}
			bits = append(bits, next)
		}
		for _, bit := range bits {
			file[bit/8] ^= 1 << (bit % 8)
		}
		records, _, err := replayed(file, 6)
		if err != nil && !errors.Is(err, ErrDamaged) || err == nil && differ(records, 6, 3) != nil {
			t.Fatalf("seed %d, bits %v: %v, %d records", seed, bits, err, len(records))
		}
		count[err == nil]++
	}
	if count[true] < 100 || count[false] < 100 {
		t.Errorf("seed %d: %d sound, %d reported", seed, count[true], count[false])
	}
}

// A record that is missing with later ones behind it, one of another place, one of a later generation, and a record
// larger than the log are damage.
func TestDamage(t *testing.T) {
	first, second := 0, SectorSize
	for name, c := range map[string]struct {
		spoil func(file []byte)
		words string
	}{
		"the first record is missing": {func(b []byte) { clear(b[first : first+SectorSize]) },
			"sector 1, at byte 512, is of record 1 of generation 6, and record 0 of generation 6 before it is missing"},
		"the second record is missing": {func(b []byte) { clear(b[second : second+SectorSize]) },
			"is of record 2 of generation 6, and record 1"},
		"the first record is there twice": {func(b []byte) { copy(b[second:second+SectorSize], b[first:]) },
			"is of record 2 of generation 6, and record 1"},
		"two are exchanged": {func(b []byte) {
			kept := bytes.Clone(b[:SectorSize])
			copy(b[:SectorSize], b[second:])
			copy(b[second:], kept)
		}, "is sector 0 of record 1 of generation 6: want sector 0 of record 0"},
		"a later generation": {func(b []byte) {
			putSector(b[10*SectorSize:11*SectorSize], markZero, head{place{9, 0, 0}, 3}, []byte("new"))
		}, "is of record 0 of generation 9, and record 3 of generation 6 before it is missing"},
		"larger than the log": {func(b []byte) {
			putSector(b[:SectorSize], markZero, head{place{6, 0, 0}, testSectors*Content + 1}, []byte("long"))
		}, "which the log cannot hold"},
		"of the greatest length": {func(b []byte) {
			putSector(b[:SectorSize], markZero, head{place{6, 0, 0}, 1<<32 - 1}, []byte("long"))
		}, "which the log cannot hold"},
		"of two lengths": {func(b []byte) {
			putSector(b[3*SectorSize:4*SectorSize], markZero, head{place{6, 2, 1}, 3}, []byte("x"))
		}, "is sector 1 of record 2"},
	} {
		file := written(t)
		c.spoil(file)
		_, _, err := replayed(file, 6)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, written(t)[:5000], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testSectors); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "5000 bytes") {
		t.Error(err)
	}
}

// After a write that failed nothing is taken until a new generation begins, whatever was written of it.
func TestFailedAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := open(t, path)
	if err := l.Append(nil); !errors.Is(err, ErrFailed) {
		t.Errorf("before Begin: %v", err)
	}
	if err := errors.Join(l.Begin(5), appendAll(l, 5, lengths[:2])); err != nil {
		t.Fatal(err)
	}
	file := l.file
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l.file = readOnly
	if err := l.Append([]byte("x")); err == nil {
		t.Fatal("it writes to a file that is open for reading")
	}
	l.file = file
	readOnly.Close()
	if err := l.Append([]byte("x")); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if err := errors.Join(l.Begin(6), appendAll(l, 6, lengths)); err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	_, err = l.Replay(6, func(b []byte) error { records = append(records, bytes.Clone(b)); return nil })
	if err = errors.Join(err, differ(records, 6, len(lengths))); err != nil {
		t.Error(err)
	}
}

// appendScript appends records of three generations, whose number it keeps in a file, and prints each.
func appendScript(dir string) error {
	path := filepath.Join(dir, "log")
	if err := Create(path, testSectors); err != nil {
		return err
	}
	fmt.Println("created")
	for generation := uint64(5); generation < 8; generation++ {
		l, err := Open(path, testSectors)
		if err != nil {
			return err
		}
		if err := l.Begin(generation); err != nil {
			return err
		}
		fmt.Println("generation", generation)
		for n := range lengths {
			if err := l.Append(content(generation, n, lengths[n])); err != nil {
				return err
			}
			fmt.Println(n)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// After a crash at any write, with any unsynced data lost or torn, the log has what was acknowledged, and at most the
// record under way besides.
func TestPowerLoss(t *testing.T) {
	crash.Recorded(t, "append").Survives(t, crash.Stride(3), func(dir string, acked []string) error {
		generation, n := uint64(0), 0
		for _, line := range acked {
			if _, err := fmt.Sscanf(line, "generation %d", &generation); err == nil {
				n = 0
			} else if line != "created" {
				n++
			}
		}
		l, err := Open(filepath.Join(dir, "log"), testSectors)
		if len(acked) == 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer l.Close()
		var records [][]byte
		if _, err := l.Replay(max(generation, 5), func(b []byte) error {
			records = append(records, bytes.Clone(b))
			return nil
		}); err != nil && (n < len(lengths) || generation > 6) { // else it has begun the next generation
			return err
		}
		if len(records) == n+1 {
			n++
		}
		return differ(records, max(generation, 5), n)
	})
}

// Whatever the file holds, reading it ends, and yields no more than the file holds.
func FuzzReplay(f *testing.F) {
	sector := make([]byte, SectorSize)
	for _, h := range []head{{place{6, 0, 0}, 3}, {place{6, 0, 0}, 1 << 31}, {place{6, 0, 1}, 600}, {place{7, 0, 0}, 0}} {
		putSector(sector, markOnes, h, bytes.Repeat([]byte("x"), Content))
		f.Add(append(bytes.Clone(sector), sector...), uint64(6), true)
	}
	f.Fuzz(func(t *testing.T, file []byte, generation uint64, seal bool) {
		file = file[:min(len(file), testSectors*SectorSize)/SectorSize*SectorSize]
		for n := 0; seal && n < len(file); n += SectorSize { // or no fuzzer gets past the sums
			s := file[n : n+SectorSize]
			h := headOf(s)
			putSector(s, mark(s[0]), h, bytes.Clone(s[contentAt:sumAt]))
		}
		r := reader{b: file, next: place{generation: generation}}
		total := 0
		for {
			record, err := r.record()
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			if err != nil || record == nil {
				break
			}
			if total += sectors(len(record)) * SectorSize; total > len(file) {
				t.Fatal("it has more than the file")
			}
		}
		r.checkRest()
	})
}
