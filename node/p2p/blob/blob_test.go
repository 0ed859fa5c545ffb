package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"skep/grid"
	"skep/internal/crash"
)

func TestMain(m *testing.M) {
	crash.Main(map[string]func(string) error{"blobs": putContents})
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

func openStore(t testing.TB, dir string, max grid.Bytes) *Store {
	s, err := Open(dir, max)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, content string) grid.BlobID {
	t.Helper()
	id, size, err := s.Put(ctx, strings.NewReader(content), grid.MiB, false)
	if err != nil || size != grid.Bytes(len(content)) || id != nameOf(content) {
		t.Fatalf("%s, %d bytes, %v", id, size, err)
	}
	return id
}

func nameOf(content string) grid.BlobID { return sha256.Sum256([]byte(content)) }

func read(t testing.TB, s *Store, id grid.BlobID) string {
	t.Helper()
	f, size, err := s.Open(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || grid.Bytes(len(b)) != size {
		t.Fatalf("%d of %d bytes, %v", len(b), size, err)
	}
	return string(b)
}

// leftovers counts the temporary files.
func leftovers(t testing.TB, s *Store) int {
	es, err := os.ReadDir(s.temp())
	if err != nil {
		t.Fatal(err)
	}
	return len(es)
}

func TestPutAndOpen(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "a", "b"), grid.MiB)
	long := strings.Repeat("0123456789", 40_000)
	for _, content := range []string{"", "x", long} {
		for _, durable := range []bool{false, true} {
			id, _, err := s.Put(ctx, iotest.HalfReader(strings.NewReader(content)), grid.MiB, durable)
			if err != nil {
				t.Fatal(err)
			}
			if read(t, s, id) != content || !s.Has(id) {
				t.Errorf("%d bytes come back different", len(content))
			}
		}
	}
	if s.Len() != 3 || s.Size() != grid.Bytes(1+len(long)) || leftovers(t, s) != 0 {
		t.Errorf("%d blobs, %d bytes, %d leftovers", s.Len(), s.Size(), leftovers(t, s))
	}
	if info, err := os.Stat(s.path(nameOf("x"))); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	none := nameOf("none")
	if _, _, err := s.Open(ctx, none); !errors.Is(err, ErrNotFound) || s.Has(none) {
		t.Error(err)
	}
	if err := s.Verify(ctx, none); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), 0); err == nil {
		t.Error("a folder of no bytes")
	}
}

// After any error nothing is stored.
func TestPutFails(t *testing.T) {
	s := openStore(t, t.TempDir(), 100)
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	content := "some content"
	id, size := nameOf(content), grid.Bytes(len(content))
	for name, c := range map[string]struct {
		err, want error
	}{
		"too long": {second(s.Put(ctx, strings.NewReader(content), size-1, true)), ErrTooLarge},
		"endless":  {second(s.Put(ctx, zeros{}, grid.GiB, false)), ErrTooLarge},
		"broken": {second(s.Put(ctx, io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken)), 99, false)),
			broken},
		"left":     {second(s.Put(cancelled, strings.NewReader(content), 99, false)), context.Canceled},
		"short":    {s.PutExpected(ctx, id, size, strings.NewReader(content[1:]), false), ErrContent},
		"longer":   {s.PutExpected(ctx, id, size, strings.NewReader(content+"x"), false), ErrTooLarge},
		"other":    {s.PutExpected(ctx, id, size, strings.NewReader("SOME CONTENT"), true), ErrContent},
		"size":     {s.PutExpected(ctx, id, 101, zeros{}, false), ErrTooLarge},
		"negative": {s.PutExpected(ctx, id, -1, zeros{}, false), ErrTooLarge},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if s.Len() != 0 || s.Size() != 0 || leftovers(t, s) != 0 {
		t.Errorf("%d blobs, %d bytes, %d leftovers", s.Len(), s.Size(), leftovers(t, s))
	}
}

func second(_ grid.BlobID, _ grid.Bytes, err error) error { return err }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A blob that is stored already is not read again.
func TestPutExpectedOfAStoredBlob(t *testing.T) {
	s := openStore(t, t.TempDir(), grid.MiB)
	id := put(t, s, "content")
	unread := iotest.ErrReader(errors.New("was read"))
	for _, durable := range []bool{false, true, true} {
		if err := s.PutExpected(ctx, id, 7, unread, durable); err != nil {
			t.Error(err)
		}
	}
	if err := s.PutExpected(ctx, id, 8, unread, false); !errors.Is(err, ErrContent) {
		t.Errorf("another size: %v", err)
	}
	if err := s.PutExpected(ctx, nameOf("new"), 3, strings.NewReader("new"), true); err != nil {
		t.Error(err)
	}
}

func TestEviction(t *testing.T) {
	s := openStore(t, t.TempDir(), 30)
	a, b := put(t, s, "aaaaaaaaaa"), put(t, s, "bbbbbbbbbb")
	s.Pin(a)
	s.Pin(a)
	s.Pin(nameOf("cccccccccc")) // yet to come
	c := put(t, s, "cccccccccc")
	put(t, s, "dddddddddd")
	if !s.Has(a) || s.Has(b) || !s.Has(c) || s.Size() != 30 {
		t.Errorf("a %v, b %v, c %v, %d bytes", s.Has(a), s.Has(b), s.Has(c), s.Size())
	}
	if _, _, err := s.Put(ctx, strings.NewReader(strings.Repeat("e", 11)), 30, false); !errors.Is(err, ErrFull) {
		t.Errorf("with 20 of 30 bytes pinned: %v", err)
	}
	s.Unpin(a)
	if _, _, err := s.Put(ctx, strings.NewReader(strings.Repeat("e", 11)), 30, false); !errors.Is(err, ErrFull) {
		t.Errorf("with a pinned once: %v", err)
	}
	f, _, err := s.Open(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Unpin(a)
	put(t, s, strings.Repeat("e", 11))
	if s.Has(a) {
		t.Error("a is still here")
	}
	if b, err := io.ReadAll(f); string(b) != "aaaaaaaaaa" || err != nil {
		t.Errorf("who had it open reads %q, %v", b, err)
	}
	if _, _, err := s.Put(ctx, zeros{}, 31, false); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than the folder: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("one Unpin too many went unnoticed")
		}
	}()
	s.Unpin(a)
}

// A held blob is evictable only when its time is over, which a second hold extends, and never while it is pinned
// too.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir(), 30)
		if s.Hold(nameOf("aaaaaaaaaa"), time.Minute) {
			t.Error("what is not here is held")
		}
		a := put(t, s, "aaaaaaaaaa")
		full := func() bool {
			_, _, err := s.Put(ctx, strings.NewReader(strings.Repeat("e", 21)), 30, false)
			return errors.Is(err, ErrFull)
		}
		if !s.Hold(a, time.Minute) {
			t.Error("what is here is not held")
		}
		time.Sleep(40 * time.Second)
		s.Hold(a, time.Minute)
		time.Sleep(40 * time.Second)
		put(t, s, "bbbbbbbbbb")
		put(t, s, "cccccccccc")
		put(t, s, "dddddddddd")
		if !s.Has(a) || !full() {
			t.Error("it went before its time")
		}
		s.Pin(a)
		time.Sleep(21 * time.Second)
		synctest.Wait()
		if !full() {
			t.Error("it went though it is pinned")
		}
		s.Unpin(a)
		if full() || s.Has(a) {
			t.Error("it stays beyond its time")
		}
	})
}

// Len returns the number of blobs.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.blobs)
}

// Verify reads a whole blob; if its content is wrong it is moved to the quarantine and the error wraps ErrContent.
func (s *Store) Verify(ctx context.Context, id grid.BlobID) error {
	s.mu.Lock()
	e := s.blobs[id]
	s.mu.Unlock()
	err := ErrNotFound
	if e != nil {
		err = s.verify(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, err)
	}
	return nil
}
