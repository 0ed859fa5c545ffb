package external

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadOrders reads the orders in the folders of attempts, each a file of that name, and returns those folders too that
// have none: nothing was handed over of these, or their orders were removed. bad is called with what cannot be read, or
// fails the check.
func ReadOrders[O any](attempts, file string, check func(o *O, dir string) error,
	bad func(dir string, err error)) (orders []O, empty []string, err error) {
	entries, err := os.ReadDir(attempts)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range entries {
		path := filepath.Join(attempts, d.Name())
		if !d.IsDir() {
			continue
		}
		var o O
		err := ReadRecord(filepath.Join(path, file), &o)
		if errors.Is(err, fs.ErrNotExist) {
			empty = append(empty, path)
			continue
		}
		if err == nil {
			err = check(&o, path)
		}
		if err != nil {
			bad(path, err)
			continue
		}
		orders = append(orders, o)
	}
	return orders, empty, nil
}

// RemoveDrafts removes what a crash has left in a folder of files that were not whole.
func RemoveDrafts(folder string) {
	drafts, _ := filepath.Glob(filepath.Join(folder, DraftPrefix+"*"))
	for _, path := range drafts {
		os.Remove(path)
	}
}
