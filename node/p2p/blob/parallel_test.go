package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"testing"

	"skep/grid"
)

func TestConcurrentUse(t *testing.T) {
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
				f, _, err := s.Open(ctx, id)
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

// TestReplacementIsAtomic opens a pinned blob repeatedly while it is put a second time, now durable.
func TestReplacementIsAtomic(t *testing.T) {
	s := openStore(t, t.TempDir(), grid.MiB)
	for i := range 200 {
		content := []byte{byte(i)}
		id := grid.BlobID(sha256.Sum256(content))
		s.Pin(id)
		if _, _, err := s.Put(ctx, bytes.NewReader(content), 1, false); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, _, err := s.Put(ctx, bytes.NewReader(content), 1, true); err != nil {
				t.Error(err)
			}
		}()
		for open := true; open; {
			select {
			case <-done:
				open = false
			default:
			}
			f, _, err := s.Open(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
}
