package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"skep/exec/external"
	"skep/exec/process"
)

// A folder of jobs that cannot be read, or is not there any more, says nothing of what runs: it is an error.
func TestFormerFolderIsNotRead(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a file":           func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"an empty folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"nothing any more": func(string) error { return nil },
		"one without a list": func(path string) error { // whose files can be read
			return errors.Join(os.Rename(path+"-away", path), os.Chmod(path, 0o300))
		},
	} {
		if name == "one without a list" && os.Geteuid() == 0 {
			continue // root can list it
		}
		e, err := openAt(t, t.TempDir(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(e.dir, e.dir+"-away"), replace(e.dir)); err != nil {
			t.Fatal(err)
		}
		if e.Former(func(string) bool { return true }) == nil {
			t.Errorf("%s in the place of the folder: want an error", name)
		}
		os.Chmod(e.dir, 0o700)
	}
}

// Where an order cannot be read it is not known whose it is. What is not found may run, no job is cancelled that is not
// known, and all programs stay.
func TestUnreadOrder(t *testing.T) {
	script(t, "squeue", "exit 1") // the controller does not answer
	for name, spoil := range map[string]func(path string) error{
		"":         nil,
		"a part":   func(path string) error { return os.WriteFile(path, []byte(`{"Key":"x"`), 0o600) },
		"no key":   func(path string) error { return os.WriteFile(path, []byte(`{}`), 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"of another folder": func(path string) error {
			return external.WriteRecord(path, Order{Key: "x", Dir: "/x", Submission: 1})
		},
	} {
		e, err := openAt(t, t.TempDir(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		program, bad := filepath.Join(e.dir, programPrefix+"old"), filepath.Join(e.dir, "bad")
		good := Order{Key: "good", Dir: filepath.Join(e.dir, "good"), Submission: 1}
		if err := errors.Join(os.WriteFile(program, nil, 0o700), os.Mkdir(bad, 0o700), os.Mkdir(good.Dir, 0o700),
			external.WriteRecord(filepath.Join(good.Dir, orderFile), good)); err != nil {
			t.Fatal(err)
		}
		unread := spoil != nil
		if unread {
			if err := spoil(filepath.Join(bad, orderFile)); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Former(func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if task, err := e.Adopt("good", nil); task == nil || err != nil {
			t.Errorf("%q: %v, %v: want the task whose order can be read", name, task, err)
		}
		if task, err := e.Adopt("x", nil); task != nil || errors.Is(err, external.ErrUnread) != unread {
			t.Errorf("%q: %v, %v: want no task, and ErrUnread: %v", name, task, err, unread)
		}
		jobs := listing{e.prefix + "x~1": {{id: "7", state: "RUNNING"}}}
		if ids := e.unknown(jobs); slices.Contains(ids, "7") == unread {
			t.Errorf("%q: %v are cancelled: want that the job that is not known is: %v", name, ids, !unread)
		}
		for _, path := range []string{program, bad} {
			if _, err := os.Lstat(path); (err == nil) != unread {
				t.Errorf("%q: %s: %v: want that it stays: %v", name, filepath.Base(path), err, unread)
			}
		}
	}
}

// The node is started while the order of a job that runs cannot be read, and once more when it can: the job goes on all
// the while, and its end is found.
func TestOrderIsReadLater(t *testing.T) {
	r := newRig(t, 1)
	gate, ran := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "ran")
	o := r.order("o", "echo x >>"+ran+"; while ! test -e "+gate+"; do sleep 0.05; done")
	r.start(o)
	await(t, "it to run", func() bool { return runs(ran) == 1 })
	r.Close()
	order := filepath.Join(o.Dir, orderFile)
	whole, err := os.ReadFile(order)
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(string) bool { return true }
	if err := os.WriteFile(order, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	r.open(wanted)
	if task, err := r.Adopt("o", nil); task != nil || !errors.Is(err, external.ErrUnread) {
		t.Errorf("%v, %v: want ErrUnread", task, err)
	}
	other := r.order("other", "true") // while it waits, the queue is looked at
	task, err := r.Start(other, nil)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the other to wait", func() bool { return task.Last().Text != "" })
	r.Close()
	if err := os.WriteFile(order, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	r.open(wanted)
	task = r.adopt("o")
	if task == nil {
		t.Fatal("it is not found again")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.wait(task); res.Cause != process.Exited || res.Code() != 0 || runs(ran) != 1 {
		t.Errorf("%+v, %d runs: want that it has ended well after one", res, runs(ran))
	}
}

// A node that is killed while it removes the folder of an attempt that is over leaves a part of it, possibly without
// the order: that keeps nothing of others from being found or started anew, and is removed. Of an attempt that is to go
// on, or of which it is not known, it is one whose order was removed.
func TestRemovalIsCutShort(t *testing.T) {
	script(t, "squeue", "exit 1") // the controller does not answer
	for name, c := range map[string]struct {
		file   string
		left   any
		unread bool
	}{
		"a claim of one that is over":         {"claim.1", claim{By: byStep, Key: "over"}, false},
		"the end of one that is over":         {endFile, end{Key: "over"}, false},
		"what the task printed":               {"stdin", "", false},
		"a claim of one that goes on":         {"claim.2", claim{By: byStep, Key: "wanted"}, true},
		"the end of one that goes on":         {endFile, end{Key: "wanted"}, true},
		"a claim that an older version wrote": {"claim.1", claim{By: byStep}, true},
	} {
		e, err := openAt(t, t.TempDir(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(e.dir, "left")
		if err := errors.Join(os.Mkdir(dir, 0o700), external.WriteRecord(filepath.Join(dir, c.file), c.left)); err != nil {
			t.Fatal(err)
		}
		if err := e.Former(func(key string) bool { return key == "wanted" }); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(dir); e.HasUnread() != c.unread || (err == nil) != c.unread {
			t.Errorf("%s: unread %v, folder %v: want unread, and that it stays: %v", name, e.HasUnread(), err, c.unread)
		}
	}
}
