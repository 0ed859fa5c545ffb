package blob

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"skep/grid"
)

// A task may change its copy in any way; the blob and other copies stay as they are.
func TestLink(t *testing.T) {
	s := openStore(t, t.TempDir(), grid.MiB)
	content := strings.Repeat("0123456789", 10_000)
	id := put(t, s, content)
	dir := t.TempDir()
	plain, program := filepath.Join(dir, "plain"), filepath.Join(dir, "program")
	if err := errors.Join(s.Link(ctx, id, plain, false), s.Link(ctx, id, program, true)); err != nil {
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
	if err := s.Link(ctx, id, plain, false); !errors.Is(err, os.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	if b, _ := os.ReadFile(plain); string(b) != "changed" {
		t.Error("a file that was there was overwritten")
	}
	none := filepath.Join(dir, "none")
	if err := s.Link(ctx, nameOf("none"), none, false); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a failed copy left a file")
	}
}

// Damage on disk is found when the blob is used, and the blob is removed so that it can be fetched again.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut":     func(p string) error { return os.Truncate(p, 3) },
		"longer":  func(p string) error { return os.Truncate(p, 30) },
		"gone":    os.Remove,
		"changed": func(p string) error { return os.WriteFile(p, []byte("CONTENT"), 0o600) },
	} {
		for _, restart := range []bool{false, true} {
			dir := t.TempDir()
			s := openStore(t, dir, grid.MiB)
			id := put(t, s, "content")
			s.Pin(id)
			if err := errors.Join(os.Chmod(s.path(id), 0o600), damage(s.path(id))); err != nil {
				t.Fatal(err)
			}
			if restart {
				s = openStore(t, dir, grid.MiB)
			} else if name == "changed" {
				if err := s.Verify(ctx, id); !errors.Is(err, ErrContent) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, _, err := s.Open(ctx, id); !errors.Is(err, ErrNotFound) || s.Has(id) || s.Size() != 0 {
				t.Errorf("%s, restart %v: %v", name, restart, err)
			}
			if put(t, s, "content"); read(t, s, id) != "content" {
				t.Errorf("%s: not repaired", name)
			}
		}
	}
}

// Put replaces a stored blob that was not checked since the start.
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
		if err := s.Link(ctx, id, dst, true); err != nil {
			b.Fatal(err)
		}
		os.Remove(dst)
	}
}
