package ranks

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skep/internal/processes"
)

// worlds connects so many ranks over loopback.
func worlds(t *testing.T, size int) []*World {
	t.Helper()
	at, all := processes.Addresses(t, size), make([]*World, size)
	var wait sync.WaitGroup
	for r := range all {
		all[r] = &World{Rank: r, Size: size, peers: make([]net.Conn, size)}
		wait.Go(func() {
			if err := all[r].connect(at); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	t.Cleanup(func() {
		for _, w := range all {
			w.Close()
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// Each rank gets what each root has, for every number of ranks up to nine.
func TestBroadcast(t *testing.T) {
	for size := 1; size <= 9; size++ {
		all := worlds(t, size)
		var wait sync.WaitGroup
		for _, w := range all {
			wait.Go(func() {
				for root := range size {
					b, want := make([]byte, 100), bytes.Repeat([]byte{byte(root + 1)}, 100)
					if w.Rank == root {
						copy(b, want)
					}
					if err := w.Broadcast(root, b); err != nil || !bytes.Equal(b, want) {
						t.Errorf("%d ranks, root %d, rank %d: %v", size, root, w.Rank, err)
					}
				}
			})
		}
		wait.Wait()
	}
}

// Two ranks exchange more than their sockets hold.
func TestExchange(t *testing.T) {
	all := worlds(t, 2)
	var wait sync.WaitGroup
	for _, w := range all {
		wait.Go(func() {
			out, in := bytes.Repeat([]byte{byte(w.Rank + 1)}, 16<<20), make([]byte, 16<<20)
			if err := w.Exchange(1-w.Rank, out, in); err != nil || in[0] != byte(2-w.Rank) {
				t.Errorf("rank %d: %v, %d", w.Rank, err, in[0])
			}
		})
	}
	wait.Wait()
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // "" = an error
	}{{"", "[{0 3} {3 6} {6 10}]"}, {"10,0,0", "[{0 10} {10 10} {10 10}]"}, {" 1,2 ,7", "[{0 1} {1 3} {3 10}]"},
		{"1,2", ""}, {"1,2,8", ""}, {"-1,2,9", ""}, {"a,2,8", ""}} {
		t.Setenv("SKEP_SHARES", c.text)
		got, err := (&World{Size: 3}).Shares(10)
		if (err != nil) != (c.want == "") || err == nil && fmt.Sprint(got) != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

func TestJoinChecksItsVariables(t *testing.T) {
	if w, err := Join(); err != nil || w.Size != 1 {
		t.Errorf("alone: %+v, %v", w, err)
	}
	for _, c := range [][3]string{{"x", "2", "a,b"}, {"2", "2", "a,b"}, {"0", "2", "a"}, {"0", "", "a"}} {
		t.Setenv("RANK", c[0])
		t.Setenv("WORLD_SIZE", c[1])
		t.Setenv("SKEP_PEERS", c[2])
		if _, err := Join(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// Rank 0 alone says how far the program is, and once a second at most.
func TestProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "progress")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SKEP_PROGRESS", file)
	first, second := &World{Size: 2}, &World{Rank: 1, Size: 2}
	for k := range 3 {
		for _, w := range []*World{second, first} {
			w.Progress(k+1, 9)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "progress 1 9\n" {
		t.Errorf("%q, %v", b, err)
	}
}
