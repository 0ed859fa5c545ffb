package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"skep/cmd/skep/progress"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// maxReported is how many failed outputs are reported one by one.
const maxReported = 10

// fetch downloads the collected files of a job into a folder, those of several tasks each into a folder named by its
// index, and returns how many it downloaded. A failed file does not stop the others: the errors are returned at the
// end.
func (a *app) fetch(ctx context.Context, c *client.Client, ref, dir string) (n int, err error) {
	j, err := c.Job(ctx, ref)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir) // paths that nodes name cannot leave it
	if err != nil {
		return 0, err
	}
	defer root.Close()
	line, done := a.passingDisplay()
	defer done()
	got, err := transferOf(ctx, c, j.ID, line)
	if err != nil {
		return 0, err
	}
	var missing []error
	failed := 0
	err = c.EachTask(ctx, j.ID, func(t *v1.Task) error {
		if t.Result == nil {
			return nil
		}
		for _, f := range t.Result.Outputs {
			name := f.Path
			if j.Count > 1 {
				name = path.Join(strconv.Itoa(int(t.Index)), name)
			}
			err := errors.New("is not inside the work folder")
			if grid.Inside(f.Path) {
				err = fetchFile(ctx, c, j.ID, root, name, t.Index, f, got)
				if errors.Is(err, errDamaged) { // its holder has detected that too: the next try uses another one
					err = fetchFile(ctx, c, j.ID, root, name, t.Index, f, got)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				n++
			} else if failed++; failed <= maxReported {
				missing = append(missing, fmt.Errorf("output %.80q: %w", name, err))
			}
		}
		return nil
	})
	if failed > maxReported {
		missing = append(missing, fmt.Errorf("and %d more outputs", failed-maxReported))
	}
	return n, errors.Join(append(missing, err)...)
}

// transferOf returns what counts the bytes of a job's collected files. How many there are is asked for only where that
// is shown.
func transferOf(ctx context.Context, c *client.Client, job string, line *progress.Display) (io.Writer, error) {
	if line.Interval() == 0 {
		return io.Discard, nil
	}
	total := int64(0)
	err := c.EachTask(ctx, job, func(t *v1.Task) error {
		if t.Result != nil {
			for _, f := range t.Result.Outputs {
				total += f.Size
			}
		}
		return nil
	})
	return line.Transfer("get", total).Counter(1), err
}

// errDamaged means that the received bytes are not the requested blob, or not all of it.
var errDamaged = errors.New("came damaged")

// fetchFile writes one file beside its destination and renames it when it is complete and has the right hash.
func fetchFile(ctx context.Context, c *client.Client, job string, root *os.Root, name string, task uint32,
	f v1.File, got io.Writer) error {
	r, err := c.JobBlob(ctx, job, f.Blob, task)
	if err != nil {
		return err
	}
	defer r.Close()
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	mode := os.FileMode(0o666)
	if f.Exec {
		mode = 0o777
	}
	// Beside its destination, shorter than the limit of a file's name, and unique to this process: another one may
	// download the same files there.
	part := filepath.Join(filepath.Dir(name), ".skep-part-"+rand.Text())
	w, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash, got), io.LimitReader(r, f.Size+1))
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && n != f.Size:
		err = fmt.Errorf("%w: %d bytes of %d", errDamaged, n, f.Size)
	case err == nil && hex.EncodeToString(hash.Sum(nil)) != f.Blob:
		err = fmt.Errorf("%w: its %d bytes are not those of blob %.80q", errDamaged, n, f.Blob)
	}
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		root.Remove(part)
	}
	return err
}
