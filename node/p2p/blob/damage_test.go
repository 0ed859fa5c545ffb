package blob

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skep/grid"
)

// long spans several of the buffers in which blobs are read.
var long = strings.Repeat("0123456789abcdef", 40_000)

// flip flips a bit of a blob's file. With quiet it restores the file's times, as far as a program can.
func flip(t *testing.T, s *Store, id grid.BlobID, at int64, quiet bool) {
	t.Helper()
	path := s.path(id)
	info, err := os.Stat(path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	b[0] ^= 1
	if err == nil {
		_, err = f.WriteAt(b, at)
	}
	err = errors.Join(err, f.Close(), os.Chmod(path, info.Mode()))
	if quiet { // also if the clock of files has not advanced since
		for was, same := stampOfInfo(info), true; err == nil && same; {
			if err = os.Chtimes(path, info.ModTime(), info.ModTime()); err == nil {
				var now stamp
				now, err = stampOf(path)
				same = now.status.Equal(was.status) && !was.status.IsZero()
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// corruptSilently flips a bit as a disk does, without a trace in the file's times.
func corruptSilently(t *testing.T, s *Store, id grid.BlobID, at int64) {
	t.Helper()
	flip(t, s, id, at, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[id].seen, _ = stampOf(s.path(id))
}

// openWatched opens a store and records the damage that it reports.
func openWatched(t *testing.T, dir string) (*Store, *[]Damage) {
	s := openStore(t, dir, 16*grid.MiB)
	var damages []Damage
	s.OnDamage(func(d Damage) { damages = append(damages, d) })
	return s, &damages
}

// Regression: a flipped bit gave a wrong file and exit code 0. Wherever it is, and whether or not the file's times
// show it, a damaged blob does not come to its end, by whatever way it is read.
func TestFlippedBit(t *testing.T) {
	for what, way := range map[string]func(s *Store, id grid.BlobID) (string, error){
		"read": func(s *Store, id grid.BlobID) (string, error) {
			r, _, err := s.Open(ctx, id)
			if err != nil {
				return "", err
			}
			defer r.Close()
			b, err := io.ReadAll(r)
			return string(b), err
		},
		"jumped about": func(s *Store, id grid.BlobID) (string, error) {
			f, _, err := s.OpenWhole(ctx, id)
			if err != nil {
				return "", err
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			return string(b), err
		},
		"copied": func(s *Store, id grid.BlobID) (string, error) {
			dst := filepath.Join(t.TempDir(), "copy")
			if err := s.Link(ctx, id, dst, true); err != nil {
				return "", err
			}
			b, err := os.ReadFile(dst)
			return string(b), err
		},
	} {
		for _, at := range []int64{0, 300_000, int64(len(long)) - 1} {
			for _, how := range []string{"written", "quiet", "rotten"} {
				if what == "copied" && how == "rotten" {
					continue // see TestACopyIsTrustedForAnHour
				}
				s, damages := openWatched(t, t.TempDir())
				id := put(t, s, long)
				s.Pin(id)
				if got, err := way(s, id); got != long || err != nil {
					t.Fatalf("%s: %d bytes, %v", what, len(got), err)
				}
				if how == "rotten" {
					corruptSilently(t, s, id, at)
				} else {
					flip(t, s, id, at, how == "quiet")
				}
				got, err := way(s, id)
				if err == nil || len(got) >= len(long) || !errors.Is(err, ErrContent) {
					t.Errorf("%s, %s at %d: %d bytes, %v", what, how, at, len(got), err)
				}
				if s.Has(id) || s.Size() != 0 || len(*damages) != 1 || !(*damages)[0].Needed || (*damages)[0].ID != id ||
					!errors.Is((*damages)[0].Why, ErrContent) {
					t.Errorf("%s, %s at %d: it is still here, or was told of %d times", what, how, at, len(*damages))
				}
				if info, err := os.Stat(filepath.Join(s.dir, quarantineFolder, id.String())); err != nil ||
					info.Size() != int64(len(long)) {
					t.Errorf("%s: it was not put aside: %v", what, err)
				}
				if put(t, s, long); read(t, s, id) != long {
					t.Errorf("%s: it cannot be brought again", what)
				}
			}
		}
	}
}

// A file that looks unchanged is copied without being read, but not for ever.
func TestACopyIsTrustedForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, damages := openWatched(t, t.TempDir())
		id := put(t, s, long)
		corruptSilently(t, s, id, 5)
		link := func(name string) error { return s.Link(ctx, id, filepath.Join(s.dir, name), false) }
		time.Sleep(verifiedFor - time.Second)
		if err := link("first"); err != nil || len(*damages) != 0 {
			t.Errorf("it is read for each copy: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := link("second"); !errors.Is(err, ErrNotFound) || len(*damages) != 1 {
			t.Errorf("it is never read again: %v", err)
		}
	})
}

// A peer that has the beginning hashes the whole; the skipped part is not read.
func TestResume(t *testing.T) {
	s, _ := openWatched(t, t.TempDir())
	id := put(t, s, long)
	for _, offset := range []grid.Bytes{0, 1, grid.Bytes(len(long)) - 1, grid.Bytes(len(long))} {
		r, _, err := s.Open(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Resume(offset); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); string(b) != long[offset:] || err != nil {
			t.Errorf("from %d: %d bytes, %v", offset, len(b), err)
		}
		r.Close()
	}
}

// A file that cannot be read at the moment is not damaged.
func TestUnreadableFileIsNotDamaged(t *testing.T) {
	s, damages := openWatched(t, t.TempDir())
	id := put(t, s, long)
	flip(t, s, id, 0, false)
	flip(t, s, id, 0, false) // restored, and not known to be
	left, leave := context.WithCancel(ctx)
	leave()
	if err := s.Verify(left, id); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	withoutDescriptors(t, func() {
		if _, _, err := s.Open(ctx, id); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("without a descriptor: %v", err)
		}
	})
	if !s.Has(id) || len(*damages) != 0 || read(t, s, id) != long {
		t.Errorf("told of %d damages", len(*damages))
	}
}

// quarantinedSize returns the bytes in the folder of damaged files, which must be those counted.
func (s *Store) quarantinedSize() (sum grid.Bytes) {
	files, _ := os.ReadDir(s.quarantine.dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			sum += grid.Bytes(info.Size())
		}
	}
	if sum != grid.Bytes(s.quarantine.size.Load()) {
		return -1
	}
	return sum
}

// The quarantine is bounded, and its files are never taken for blobs.
func TestQuarantineIsBounded(t *testing.T) {
	dir := t.TempDir()
	s, damages := openWatched(t, dir)
	most := s.max / quarantineShare
	for i := range 5 {
		id := put(t, s, strings.Repeat(string(rune('a'+i)), int(most/2)))
		flip(t, s, id, 0, false)
		s.Verify(ctx, id)
		if got := s.quarantinedSize(); got > most || got <= 0 {
			t.Errorf("%d bytes are set aside: want at most %d", got, most)
		}
	}
	id := put(t, s, strings.Repeat("b", 1<<20)[:int(most)])
	large, _, err := s.Put(ctx, strings.NewReader(strings.Repeat("c", int(most)+1)), 16*grid.MiB, false)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, s, large, 0, false)
	s.Verify(ctx, large)
	if got := s.quarantinedSize(); got > most || got < 0 || len(*damages) != 6 {
		t.Errorf("%d bytes are set aside, %d told", got, len(*damages))
	}
	if s = openStore(t, dir, 16*grid.MiB); s.Len() != 1 || !s.Has(id) {
		t.Errorf("%d blobs after a start", s.Len())
	}
}

// A durable blob stays durable when it is replaced because its file was written to.
func TestReplacementIsDurable(t *testing.T) {
	s, _ := openWatched(t, t.TempDir())
	id, _, err := s.Put(ctx, strings.NewReader(long), grid.MiB, true)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, s, id, 0, false)
	if put(t, s, long); !s.blobs[id].synced || read(t, s, id) != long {
		t.Error("it is not on disk for certain any more")
	}
}
