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
	orders, empty, err := external.ReadOrders(e.dir, orderFile, (*Order).check, e.isUnread)
	if err == nil {
		err = e.share.check() // what was not there counts as never submitted
	}
	if err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	external.RemoveDrafts(e.dir)
	for _, dir := range empty {
		if mayBeWanted(dir, wanted) {
			e.isUnread(dir, errors.New("order.json was removed from it, and its job has run, or runs"))
			continue
		}
		e.Remove(dir)
	}
	e.removePrograms(entries, orders)
	for _, o := range orders {
		t := e.newTask(o)
		t.restored = true
		e.Restore(t, wanted(o.Key))
	}
	e.over.Go(func() { e.watcher.Run(e.ctx) })
	e.over.Go(e.health)
	return nil
}

// mayBeWanted reports whether a folder without an order is that of a job which has claimed the order, or ended it, and
// whose attempt is to go on, as far as is known. A job that has not claimed it finds no order when it begins, and runs
// nothing. A node that was killed while it removed a folder leaves claims and ends too, of an attempt that is over.
func mayBeWanted(dir string, wanted func(key string) bool) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "claim.*"))
	for _, path := range append(files, filepath.Join(dir, endFile)) {
		var x struct{ Key string }
		err := external.ReadRecord(path, &x)
		if !errors.Is(err, fs.ErrNotExist) && (err != nil || x.Key == "" || wanted(x.Key)) {
			return true
		}
	}
	return false
}

func (e *Engine) isUnread(dir string, err error) {
	e.Unread()
	e.o.Log.Warn("an order of an earlier run cannot be read, so no job is cancelled that is not known: start the "+
		"node again when it can, or once its job is over and the folder removed", "folder", dir, "error", err)
}

func (o *Order) check(dir string) error {
	switch {
	case o.Dir != dir:
		return fmt.Errorf("it is of the folder %.300q", o.Dir)
	case o.Key == "" || o.Submission < 1:
		return errors.New("it is not whole")
	}
	return nil
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
