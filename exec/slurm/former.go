package slurm

import (
	"errors"
	"fmt"
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
		if e.hasRun(dir) {
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

// hasRun reports whether a job has claimed, or ended, an order that is not in its folder any more. One that did not
// finds no order when it begins, and runs nothing.
func (e *Engine) hasRun(dir string) bool {
	claims, _ := filepath.Glob(filepath.Join(dir, "claim.*"))
	_, err := os.Lstat(filepath.Join(dir, endFile))
	return len(claims) > 0 || err == nil
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
