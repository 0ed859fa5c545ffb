package blob

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skep/grid"
)

// Many concurrent users of a blob that must be hashed wait for one hashing of it. One that leaves early gets no
// answer, and the others do.
func TestManyWaitForOneHashing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, damages := openWatched(t, t.TempDir())
		id := put(t, s, long)
		e := s.blobs[id]
		e.seen = stamp{} // as after a start
		s.mu.Lock()      // a hashing ends only when it has been recorded
		c := &check{done: make(chan struct{}), end: func() {}}
		s.checks[e] = c
		s.mu.Unlock()
		left, leave := context.WithCancel(ctx)
		var wait sync.WaitGroup
		for i := range 8 {
			mine := ctx
			if i == 0 {
				mine = left
			}
			wait.Go(func() {
				_, err := s.use(mine, id, verifiedFor)
				if want := map[bool]error{true: context.Canceled}[i == 0]; !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("%d: %v: want %v", i, err, want)
				}
			})
		}
		synctest.Wait()
		if len(s.checks) != 1 || c.waiting != 8 {
			t.Errorf("%d wait for %d hashings: want 8 for one", c.waiting, len(s.checks))
		}
		leave()
		synctest.Wait()
		if s.checks[e] != c || c.waiting != 7 {
			t.Errorf("after one has left %d wait, and it goes on: %t", c.waiting, s.checks[e] == c)
		}
		close(c.done)
		wait.Wait()
		if len(*damages) != 0 {
			t.Errorf("told of %v", *damages)
		}
	})
}

// When all waiters have left, the hashing ends, and a later caller starts another.
func TestAbandonedHashingEnds(t *testing.T) {
	s, _ := openWatched(t, t.TempDir())
	id := put(t, s, long)
	e := s.blobs[id]
	ended := make(chan struct{})
	c := &check{done: make(chan struct{}), end: sync.OnceFunc(func() { close(ended) })}
	s.checks[e] = c
	left, leave := context.WithCancel(ctx)
	leave()
	if err := s.hashOnce(left, e); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-ended
	if err := s.hashOnce(ctx, e); err != nil || len(s.checks) != 0 {
		t.Errorf("%v, %d hashings under way", err, len(s.checks))
	}
}

// Quarantined files are removed after a time, at the latest by a start then, and evictable blobs make room for
// them.
func TestQuarantineExpires(t *testing.T) {
	dir := t.TempDir()
	s, _ := openWatched(t, dir)
	bad := put(t, s, strings.Repeat("a", 512<<10))
	flip(t, s, bad, 0, false)
	s.Verify(ctx, bad)
	for i := range 31 {
		put(t, s, strings.Repeat(string(rune('A'+i)), 512<<10))
	}
	if sum := s.Size() + s.quarantinedSize(); sum > 16*grid.MiB {
		t.Errorf("%d bytes with those set aside: want at most %d", sum, 16*grid.MiB)
	}
	at := time.Now().Add(-quarantineTime - time.Hour)
	if err := os.Chtimes(filepath.Join(dir, quarantineFolder, bad.String()), at, at); err != nil {
		t.Fatal(err)
	}
	if s = openStore(t, dir, 16*grid.MiB); s.quarantinedSize() != 0 {
		t.Errorf("%d bytes are still set aside after %v", s.quarantinedSize(), quarantineTime)
	}
}
