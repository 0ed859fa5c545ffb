package blob

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/grid"
	"skep/internal/crash"
)

// testContent returns the n-th content that the script stores.
func testContent(n int) string { return strings.Repeat(fmt.Sprint("content ", n, "\n"), 1+700*n) }

const testContents = 6

// putContents stores some contents durably and some not, some of these durably later, over two runs. It reports the
// number of each that must survive from then on.
func putContents(dir string) error {
	for run := range 2 {
		s, err := Open(filepath.Join(dir, "data", "blobs"), grid.MiB)
		if err != nil {
			return err
		}
		for n := range testContents {
			if n%2 != run { // not durable, or stored already
				_, _, err = s.Put(ctx, strings.NewReader(testContent(n)), grid.MiB, false)
			} else if n < 3 {
				_, _, err = s.Put(ctx, strings.NewReader(testContent(n)), grid.MiB, true)
			} else {
				err = s.PutExpected(ctx, nameOf(testContent(n)), grid.Bytes(len(testContent(n))), strings.NewReader(testContent(n)),
					true)
			}
			if err != nil {
				return err
			}
			if n%2 == run {
				fmt.Println(n)
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// After a crash of the machine at any write, with any unsynced data lost or torn, durable blobs are stored and
// right, and no wrong content is returned.
func TestPowerLoss(t *testing.T) {
	crash.Recorded(t, "blobs").Survives(t, crash.Stride(11), func(dir string, acked []string) error {
		s, err := Open(filepath.Join(dir, "data", "blobs"), grid.MiB)
		if err != nil {
			return err
		}
		for n := range testContents {
			f, size, err := s.Open(ctx, nameOf(testContent(n)))
			if err != nil {
				if slices.Contains(acked, fmt.Sprint(n)) || !errors.Is(err, ErrNotFound) {
					return fmt.Errorf("thing %d: %w", n, err)
				}
				continue
			}
			b, err := io.ReadAll(f)
			f.Close()
			if err != nil || string(b) != testContent(n) || int(size) != len(b) {
				return fmt.Errorf("thing %d: %d bytes of %d, %w", n, len(b), size, err)
			}
		}
		if n := leftovers(t, s); n > 0 {
			return fmt.Errorf("%d files of unfinished writes", n)
		}
		return s.Close()
	})
}
