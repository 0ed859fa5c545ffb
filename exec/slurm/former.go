package slurm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skep/exec/external"
)

// Former finds the orders of an earlier run and begins to look after jobs. wanted says whether the attempt with a key
// is still to go on: the others are ended, and their folders removed. An attempt has one folder at most that has an
// order. With an error it has changed nothing.
func (e *Engine) Former(wanted func(key string) bool) error {
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		return fmt.Errorf("slurm: the folder of jobs cannot be read: %w", err)
	}
	orders, empty := e.orders(entries)
	if err := e.share.check(); err != nil { // what was not there counts as never submitted
		return fmt.Errorf("slurm: %w", err)
	}
	for _, d := range entries {
		if strings.HasPrefix(d.Name(), external.DraftPrefix) && !d.IsDir() {
			os.Remove(filepath.Join(e.dir, d.Name()))
		}
	}
	for _, dir := range empty {
		e.Remove(dir)
	}
	e.removePrograms(entries, orders)
	for _, o := range orders {
		t := e.newTask(o)
		t.restored = true
		e.Restore(t, wanted(o.Key))
	}
	e.over.Go(func() { e.watcher.Run(e.ctx) })
	return nil
}

// orders reads the orders in the folders of attempts, and returns those folders too of which nothing was submitted.
func (e *Engine) orders(entries []os.DirEntry) (orders []Order, empty []string) {
	for _, d := range entries {
		if !d.IsDir() {
			continue
		}
		dir := filepath.Join(e.dir, d.Name())
		var o Order
		err := external.ReadRecord(filepath.Join(dir, orderFile), &o)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			empty = append(empty, dir)
			continue
		case err == nil && o.Dir != dir:
			err = fmt.Errorf("it is of the folder %.300q", o.Dir)
		case err == nil && (o.Key == "" || o.Submission < 1):
			err = errors.New("it is not whole")
		}
		if err != nil {
			e.Unread()
			e.o.Log.Warn("an order of an earlier run cannot be read, so no job is cancelled that is not known: start the "+
				"node again when it can, or once its job is over and the folder removed", "folder", dir, "error", err)
			continue
		}
		orders = append(orders, o)
	}
	return orders, empty
}

// removePrograms removes copies of other builds that no order is for.
func (e *Engine) removePrograms(entries []os.DirEntry, orders []Order) {
	if e.HasUnread() { // it may be for any
		return
	}
	used := map[string]bool{e.o.Step[0]: true}
	for i := range orders {
		used[orders[i].Step] = true
	}
	for _, d := range entries {
		path := filepath.Join(e.dir, d.Name())
		if strings.HasPrefix(d.Name(), programPrefix) && !d.IsDir() && !used[path] {
			os.Remove(path)
		}
	}
}
