package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"skep/grid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	f, size, err := s.Open(id)
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

// leftovers counts the files of writes that are not finished.
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
	if _, _, err := s.Open(none); !errors.Is(err, ErrNotFound) || s.Has(none) {
		t.Error(err)
	}
	if err := s.Verify(ctx, none); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), 0); err == nil {
		t.Error("a folder of no bytes")
	}
}

// Whatever goes wrong on the way, nothing is kept.
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
		"broken":   {second(s.Put(ctx, io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken)), 99, false)), broken},
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

// What is here already is not read again.
func TestPutExpectedOfWhatIsHere(t *testing.T) {
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

func TestPutFile(t *testing.T) {
	s := openStore(t, t.TempDir(), grid.MiB)
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id, size, err := s.PutFile(ctx, path, grid.KiB, true)
	if err != nil || size != 10 || read(t, s, id) != "#!/bin/sh\n" {
		t.Errorf("%d bytes, %v", size, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]error{dir: ErrFile, pipe: ErrFile, filepath.Join(dir, "none"): os.ErrNotExist} {
		if _, _, err := s.PutFile(ctx, p, grid.KiB, false); !errors.Is(err, want) || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, _, err := s.PutFile(ctx, path, 9, false); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// A task may do what it likes with its copy; the blob and other copies stay what they are.
func TestLink(t *testing.T) {
	s := openStore(t, t.TempDir(), grid.MiB)
	content := strings.Repeat("0123456789", 10_000)
	id := put(t, s, content)
	dir := t.TempDir()
	plain, program := filepath.Join(dir, "plain"), filepath.Join(dir, "program")
	if err := errors.Join(s.Link(id, plain, false), s.Link(id, program, true)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{plain: 0o600, program: 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want || info.Sys().(*syscall.Stat_t).Nlink != 1 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.WriteFile(plain, []byte("changed"), 0); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(program); string(b) != content || err != nil {
		t.Errorf("the other copy has %d bytes, %v", len(b), err)
	}
	if read(t, s, id) != content || s.Verify(ctx, id) != nil {
		t.Error("the blob was changed through a copy")
	}
	if err := s.Link(id, plain, false); !errors.Is(err, os.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	if b, _ := os.ReadFile(plain); string(b) != "changed" {
		t.Error("a file that was there was overwritten")
	}
	none := filepath.Join(dir, "none")
	if err := s.Link(nameOf("none"), none, false); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a failed copy left a file")
	}
}

// Damage on disk is found when the blob is asked for, and the blob is dropped so that it can be fetched anew.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut":     func(p string) error { return os.Truncate(p, 3) },
		"longer":  func(p string) error { return os.Truncate(p, 30) },
		"gone":    os.Remove,
		"changed": func(p string) error { os.Chmod(p, 0o600); return os.WriteFile(p, []byte("CONTENT"), 0o600) },
	} {
		for _, restart := range []bool{false, true} {
			dir := t.TempDir()
			s := openStore(t, dir, grid.MiB)
			id := put(t, s, "content")
			s.Pin(id)
			if err := damage(s.path(id)); err != nil {
				t.Fatal(err)
			}
			if restart {
				s = openStore(t, dir, grid.MiB)
			} else if name == "changed" { // same size, and written by this process: only Verify reads it again
				if err := s.Verify(ctx, id); !errors.Is(err, ErrContent) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, _, err := s.Open(id); !errors.Is(err, ErrNotFound) || s.Has(id) || s.Size() != 0 {
				t.Errorf("%s, restart %v: %v", name, restart, err)
			}
			if put(t, s, "content"); read(t, s, id) != "content" {
				t.Errorf("%s: not repaired", name)
			}
		}
	}
}

// Put of what is here but was not checked since the start replaces it.
func TestPutRepairs(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, grid.MiB)
	id := put(t, s, "content")
	os.Chmod(s.path(id), 0o600)
	if err := os.WriteFile(s.path(id), []byte("CONTENT"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, grid.MiB)
	if put(t, s, "content"); read(t, s, id) != "content" || s.Len() != 1 || s.Size() != 7 {
		t.Errorf("%d blobs, %d bytes", s.Len(), s.Size())
	}
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, 30)
	id := put(t, s, "content")
	put(t, s, "another content")
	read(t, s, id) // used after the other
	for path, content := range map[string]string{"tmp/put-123": "half", "note": "not ours", "ab/note": "nor this"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = openStore(t, dir, 30)
	if s.Len() != 2 || s.Size() != 22 || leftovers(t, s) != 0 {
		t.Errorf("%d blobs, %d bytes, %d leftovers", s.Len(), s.Size(), leftovers(t, s))
	}
	if b, err := os.ReadFile(filepath.Join(dir, "note")); string(b) != "not ours" || err != nil {
		t.Error("a file of somebody else is gone")
	}
	put(t, s, "something new")
	if !s.Has(id) || s.Has(nameOf("another content")) {
		t.Error("collected what was used last")
	}
}

func TestCollect(t *testing.T) {
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
	f, _, err := s.Open(a)
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

func TestManyAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir(), 64*grid.KiB)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 40 {
				content := bytes.Repeat([]byte{byte(i % 10), byte(g % 2)}, 2000)
				id := grid.BlobID(sha256.Sum256(content))
				s.Pin(id)
				err := s.PutExpected(ctx, id, 4000, bytes.NewReader(content), i%7 == 0)
				if errors.Is(err, ErrFull) {
					s.Unpin(id)
					continue
				}
				if err != nil {
					t.Error(err)
				}
				f, _, err := s.Open(id)
				if err != nil {
					t.Error(err)
					return
				}
				if b, err := io.ReadAll(f); !bytes.Equal(b, content) || err != nil {
					t.Error(err)
				}
				f.Close()
				s.Unpin(id)
			}
		})
	}
	wait.Wait()
	if s.Size() > 64*grid.KiB || s.Size() != 4000*grid.Bytes(s.Len()) || leftovers(t, s) != 0 {
		t.Errorf("%d blobs, %d bytes, %d leftovers", s.Len(), s.Size(), leftovers(t, s))
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	s := openStore(t, dir, grid.GiB)
	put(t, s, "small")
	if _, _, err := s.Put(ctx, io.LimitReader(zeros{}, 1<<20), grid.GiB, true); !errors.Is(err, ErrDisk) || leftovers(t, s) != 0 {
		t.Errorf("%d leftovers, %v", leftovers(t, s), err)
	}
	if read(t, s, nameOf("small")) != "small" {
		t.Error("what was there is lost")
	}
}

func BenchmarkPut(b *testing.B) {
	content := make([]byte, grid.MiB)
	for _, durable := range []bool{false, true} {
		name := map[bool]string{false: "cache", true: "durable"}[durable]
		b.Run(name, func(b *testing.B) {
			s := openStore(b, b.TempDir(), 16*grid.MiB)
			b.SetBytes(int64(len(content)))
			for n := 0; b.Loop(); n++ {
				content[0], content[1], content[2] = byte(n), byte(n>>8), byte(n>>16)
				if _, _, err := s.Put(ctx, bytes.NewReader(content), grid.MiB, durable); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLink(b *testing.B) {
	s := openStore(b, b.TempDir(), 16*grid.MiB)
	id, size, err := s.Put(ctx, bytes.NewReader(make([]byte, grid.MiB)), grid.MiB, false)
	if err != nil {
		b.Fatal(err)
	}
	dst := filepath.Join(b.TempDir(), "copy")
	b.SetBytes(int64(size))
	for b.Loop() {
		if err := s.Link(id, dst, true); err != nil {
			b.Fatal(err)
		}
		os.Remove(dst)
	}
}
