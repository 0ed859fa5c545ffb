package slurm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skep/exec/process"
)

// Former finds the orders of an earlier run and begins to look after jobs. wanted says whether the attempt with a key
// is still to go on: the others are ended, and their folders removed. An attempt has one folder at most that has an
// order.
func (e *Engine) Former(wanted func(key string) bool) {
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		e.o.Log.Warn("the folder of Slurm jobs cannot be read", "error", err)
	}
	programs := map[string]bool{e.o.Step[0]: true}
	for _, d := range entries {
		dir := filepath.Join(e.dir, d.Name())
		if strings.HasPrefix(d.Name(), ".draft-") && !d.IsDir() {
			os.Remove(dir)
		}
		if !d.IsDir() {
			continue
		}
		var o Order
		err := readRecord(filepath.Join(dir, orderFile), &o)
		if errors.Is(err, fs.ErrNotExist) { // nothing of it was submitted
			e.remove(dir)
			continue
		}
		if err != nil || o.Dir != dir || o.Key == "" || o.Submission < 1 {
			e.o.Log.Warn("an order of an earlier run cannot be read, and is left alone", "folder", dir, "error", err)
			continue
		}
		programs[o.Step] = true
		t := e.newTask(o, nil)
		t.restored = true
		e.mu.Lock()
		e.live[t.name] = t
		if wanted(o.Key) && e.former[o.Key] == nil {
			e.former[o.Key] = t
			e.mu.Unlock()
			continue
		}
		e.mu.Unlock()
		t.abandon()
	}
	for _, d := range entries {
		if path := filepath.Join(e.dir, d.Name()); strings.HasPrefix(d.Name(), programPrefix) && !d.IsDir() &&
			!programs[path] {
			os.Remove(path)
		}
	}
	e.over.Go(e.watch)
}

// Adopt takes over the task of an earlier run; nil: there is none, so the attempt has not run.
func (e *Engine) Adopt(key string, said func(string)) *Task {
	e.mu.Lock()
	t := e.former[key]
	delete(e.former, key)
	e.mu.Unlock()
	if t != nil {
		t.listen(said)
	}
	return t
}

// Abandon ends the task of an earlier run that was not taken over, and removes its folder.
func (e *Engine) Abandon(key string) {
	e.mu.Lock()
	t := e.former[key]
	delete(e.former, key)
	e.mu.Unlock()
	if t != nil {
		t.abandon()
	}
}

func (e *Engine) remove(dir string) {
	if err := process.Remove(dir); err != nil {
		e.o.Log.Warn("the folder of a Slurm job was not removed", "error", err)
	}
}
