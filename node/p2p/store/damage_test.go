package store

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
)

// A file that was truncated, or whose pages were overwritten, is an error of one line and never a panic or other
// records.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for n := range uint32(40) {
		var batch []grid.Record
		for i := range uint32(50) {
			batch = append(batch, task(n*50+i))
		}
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
	}
	written := load(t, s)
	s.Close()
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	used := len(strings.TrimRight(string(whole), "\x00"))
	seed := rand.Uint64()
	random, found := rand.New(rand.NewPCG(seed, 1)), 0
	for n := range 300 {
		b := append([]byte(nil), whole[:used]...)
		if n%2 == 0 {
			b = b[:random.IntN(used)]
		} else {
			for range 3 {
				at := random.IntN(used) &^ 511
				for i := range b[at:min(at+512, used)] {
					b[at+i] = byte(random.Uint32())
				}
			}
		}
		damaged := t.TempDir()
		if err := os.WriteFile(filepath.Join(damaged, File), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(damaged)
		if err == nil {
			var read []grid.Record
			err = s.Load(func(r *grid.Record) error { read = append(read, *r); return nil })
			s.Close()
			if what := differ(written, read); what != "" {
				t.Fatalf("seed %d, %d: %s", seed, n, what)
			}
		}
		if err != nil {
			found++
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), damaged) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("seed %d, %d: %v", seed, n, err)
			}
		}
		if _, again := Open(damaged); errors.Is(again, ErrInUse) {
			t.Fatalf("seed %d, %d: it stays locked after %v", seed, n, err)
		}
	}
	if found < 100 {
		t.Errorf("seed %d: %d of 300 damages were found", seed, found)
	}
}
