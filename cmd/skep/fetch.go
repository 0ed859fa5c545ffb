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

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// mostTold is how many files that did not come are named.
const mostTold = 10

// fetch brings the collected files of a job into a folder, of several tasks each into a folder named by
// its index, and returns how many came. One that does not come keeps no other from coming: all is tried before the error is told.
func (a *app) fetch(ctx context.Context, c *client.Client, ref, dir string) (n int, err error) {
	j, err := c.Job(ctx, ref)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir) // what nodes say about paths stays inside
	if err != nil {
		return 0, err
	}
	defer root.Close()
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
				err = fetchFile(ctx, c, j.ID, root, name, t.Index, f)
				if errors.Is(err, errWrong) { // whoever had it has found that too: now it comes from another one
					err = fetchFile(ctx, c, j.ID, root, name, t.Index, f)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				n++
			} else if failed++; failed <= mostTold {
				missing = append(missing, fmt.Errorf("output %.80q: %w", name, err))
			}
		}
		return nil
	})
	if failed > mostTold {
		missing = append(missing, fmt.Errorf("and %d more outputs", failed-mostTold))
	}
	return n, errors.Join(append(missing, err)...)
}

// errWrong says that what came is not the blob that was asked for, or not all of it.
var errWrong = errors.New("came damaged")

// fetchFile writes one file beside its place and puts it there when it is whole, and what its hash says.
func fetchFile(ctx context.Context, c *client.Client, job string, root *os.Root, name string, task uint32, f v1.File) error {
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
	// Beside its place, no longer than a file's name may be, and of this program alone: another one may bring the same files there.
	part := filepath.Join(filepath.Dir(name), ".skep-part-"+rand.Text())
	w, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(r, f.Size+1))
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && n != f.Size:
		err = fmt.Errorf("%w: %d bytes of %d", errWrong, n, f.Size)
	case err == nil && hex.EncodeToString(hash.Sum(nil)) != f.Blob:
		err = fmt.Errorf("%w: its %d bytes are not those of blob %.80q", errWrong, n, f.Blob)
	}
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		root.Remove(part)
	}
	return err
}
