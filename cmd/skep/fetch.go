package main

import (
	"context"
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

// fetch brings the collected files of a job into a folder, of several tasks each into a folder named by
// its index, and returns how many there were.
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
	err = c.EachTask(ctx, j.ID, func(t *v1.Task) error {
		if t.Result == nil {
			return nil
		}
		for _, f := range t.Result.Outputs {
			name := f.Path
			if !grid.Inside(name) {
				return fmt.Errorf("output %.80q of task %d: is not inside the work folder: not fetched", name, t.Index)
			}
			if j.Count > 1 {
				name = path.Join(strconv.Itoa(int(t.Index)), name)
			}
			if err := fetchFile(ctx, c, j.ID, root, name, f); err != nil {
				return fmt.Errorf("output %s: %w", name, err)
			}
			n++
		}
		return nil
	})
	return n, err
}

// fetchFile writes one file beside its place and puts it there when it is whole.
func fetchFile(ctx context.Context, c *client.Client, job string, root *os.Root, name string, f v1.File) error {
	r, err := c.JobBlob(ctx, job, f.Blob)
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
	part := name + ".skep-part"
	w, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, f.Size+1))
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err == nil && n != f.Size {
		err = fmt.Errorf("has %d bytes: want %d", n, f.Size)
	}
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		root.Remove(part)
	}
	return err
}
