package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dirtied returns how many bytes this process has made dirty in files, as the kernel counts them.
func dirtied(t *testing.T) (n int) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// An append counts as a page or two, not as the whole file, in a new file and in one that is opened again.
func TestAppendIsSmall(t *testing.T) {
	const sectors, appends = 1024, 64
	path := filepath.Join(t.TempDir(), "log")
	if err := Create(path, sectors); err != nil {
		t.Fatal(err)
	}
	for generation := range uint64(2) {
		l, err := Open(path, sectors)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Begin(generation + 1); err != nil {
			t.Fatal(err)
		}
		before := dirtied(t)
		for range appends {
			if err := l.Append([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := (dirtied(t) - before) / appends; n > 8192 {
			t.Errorf("generation %d: an append counts as %d bytes", generation+1, n)
		}
		dropPages(l.file) // as after a start of the machine
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
