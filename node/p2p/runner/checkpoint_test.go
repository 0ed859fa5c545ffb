package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// runsWith starts a task that closes a checkpoint and runs on, and returns its attempt when the node has been told.
func runsWith(t *testing.T, r *Runner, l *loop, script string) *attempt {
	t.Helper()
	r.Start(grid.Start{Attempt: attemptID(1), Spec: rig.Sh(script + "; exec sleep 60")})
	rig.Await(t, "a checkpoint", func() bool { return l.count(grid.EvCheckpoint) == 1 })
	return r.lookup(attemptID(1))
}

// A checkpoint that no owner would keep is not stored, and the task is told why. It counts by its files' sizes: what a
// sparse one would take is not read.
func TestTooLargeCheckpointIsNotStored(t *testing.T) {
	r, l := openRunner(t)
	a := runsWith(t, r, l, `printf begun >&2; mkdir -p state/5; truncate -s 700K state/5/a; truncate -s 700K state/5/b
		echo checkpoint 5 >$SKEP_PROGRESS`)
	before := r.cfg.Blobs.Size()
	r.Take(grid.Take{Attempt: a.id, Step: 5, Keep: []uint64{5}, Known: 5})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvCheckpoint) == 2 })
	const why = "it has 1.4 MiB: want at most 1.0"
	if x := l.last(grid.EvCheckpoint).Checkpoint; x.Refusal.Detail != why || x.Step != 5 || len(x.Files) > 0 {
		t.Errorf("told %+v: want %q", x, why)
	}
	if size := r.cfg.Blobs.Size(); size != before {
		t.Errorf("%d bytes were stored", size-before)
	}
	stderr := func() string {
		text, _ := os.ReadFile(process.Output(a.dir, process.Stderr))
		return string(text)
	}
	want := "begun\nskep: not kept: checkpoint 5: " + why + "\n"
	rig.Await(t, "the line", func() bool { return stderr() == want })
	r.noteNotKept(a, "again")
	if got := stderr(); got != want {
		t.Errorf("stderr has %q: want one line a minute", got)
	}
	r.mu.Lock()
	a.checkpoints.noted = time.Now().Add(-noteEvery)
	r.mu.Unlock()
	r.noteNotKept(a, "later")
	if got := stderr(); got != want+"skep: not kept: later\n" {
		t.Errorf("stderr has %q: want that it is told again after a minute", got)
	}
}

// What is dropped while it is stored, or waits for that, is neither pinned nor told; what is closed meanwhile stays.
func TestDroppedWhileTaken(t *testing.T) {
	r, l := openRunner(t)
	a := runsWith(t, r, l, `mkdir -p state/5 state/6 state/7; for i in 5 6 7; do echo $i >state/$i/f; done
		printf 'checkpoint 5\ncheckpoint 6\ncheckpoint 7\n' >$SKEP_PROGRESS`)
	there := func() (names []string) {
		entries, _ := os.ReadDir(filepath.Join(a.dir, "closed"))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := l.last(grid.EvCheckpoint).Checkpoint.Closed; !slices.Equal(got, []uint64{5, 6, 7}) {
		t.Fatalf("closed %v", got)
	}
	r.mu.Lock()
	a.checkpoints.busy = true // 5 is being stored, and what follows waits
	r.mu.Unlock()
	r.Take(grid.Take{Attempt: a.id, Step: 6, Keep: []uint64{6}, Known: 6})
	r.Take(grid.Take{Attempt: a.id, Known: 6})
	r.takeOne(a, 5)
	r.takeAll(a)
	if got := fmt.Sprint(there()); got != "[7]" {
		t.Errorf("closed are %v: want 7, of which the node did not know", got)
	}
	r.mu.Lock()
	taken := len(a.checkpoints.taken)
	r.mu.Unlock()
	if taken != 0 || l.count(grid.EvCheckpoint) != 1 {
		t.Errorf("%d are pinned, %d were told", taken, l.count(grid.EvCheckpoint)-1)
	}
	r.Take(grid.Take{Attempt: a.id, Step: 7, Keep: []uint64{7}, Known: 7})
	rig.Await(t, "the next", func() bool { return l.count(grid.EvCheckpoint) == 2 })
	if x := l.last(grid.EvCheckpoint).Checkpoint; x.Step != 7 || len(x.Files) != 1 {
		t.Errorf("told %+v", x)
	}
}

// pinned reports whether a blob is pinned, and removes one of its pins.
func pinned(r *Runner, id grid.BlobID) (is bool) {
	defer func() { is = recover() == nil }()
	r.cfg.Blobs.Unpin(id)
	return is
}

// What is asked for again and again is pinned once, and what waits to be done is one thing: the newest step, and what
// is to be kept at last.
func TestTakenAgain(t *testing.T) {
	r, l := openRunner(t)
	a := runsWith(t, r, l, `mkdir -p state/5 state/6; for i in 5 6; do echo $i >state/$i/f; done
		printf 'checkpoint 5\ncheckpoint 6\n' >$SKEP_PROGRESS`)
	told := 1
	for _, step := range []uint64{5, 6, 5, 6, 5} {
		r.Take(grid.Take{Attempt: a.id, Step: step, Keep: []uint64{5, 6}, Known: 6})
		told++
		rig.Await(t, "a checkpoint", func() bool { return l.count(grid.EvCheckpoint) == told })
	}
	r.mu.Lock()
	files := append(slices.Clone(a.checkpoints.taken[5]), a.checkpoints.taken[6]...)
	r.dropCheckpoints(a)
	a.checkpoints.busy = true // so that what follows waits
	r.mu.Unlock()
	for i := range files {
		if pinned(r, files[i].Blob) {
			t.Errorf("a file of %d is pinned once all checkpoints are dropped", len(files))
		}
	}
	for _, step := range []uint64{5, 6, 0} {
		r.Take(grid.Take{Attempt: a.id, Step: step, Keep: []uint64{5, 6}, Known: 6})
	}
	r.takeAll(a)
	if n := l.count(grid.EvCheckpoint) - told; n != 1 {
		t.Errorf("%d were taken, want the newest alone", n)
	}
	if x := l.last(grid.EvCheckpoint).Checkpoint; x.Step != 6 || len(x.Files) != 1 {
		t.Errorf("told %+v, want checkpoint 6", x)
	}
}

// The files of a checkpoint that an attempt begins from are placed in one folder, whatever their paths look like.
func TestStepOf(t *testing.T) {
	const folder = grid.CheckpointFolder
	for _, tt := range []struct{ paths, want string }{
		{folder + "/5/0/f " + folder + "/5/1/f", "5"}, {"a/../" + folder + "/5/0/f ./" + folder + "/5/1/f", "5"},
		{folder + "/x/0/f", ""}, {folder + "/0/0/f", ""}, {folder + "/5", ""}, {folder + "/5/0/f " + folder + "/6/0/f", ""},
		{folder + "/5/0/f " + folder + "/5/../6/f", ""}, {folder + "/../5/0/f", ""}, {folder + "/5/0/f f", ""},
	} {
		var files []grid.File
		for _, p := range strings.Fields(tt.paths) {
			files = append(files, grid.File{Path: p})
		}
		if got, err := stepOf(files); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v: want %q", tt.paths, got, err, tt.want)
		}
	}
	left, from := grid.SplitInputs([]grid.File{{Path: "a/../" + folder + "/5/0/f"}, {Path: folder + "/../f"},
		{Path: "x" + folder}})
	if len(left) != 2 || len(from) != 1 {
		t.Errorf("%v are left by other jobs, %v of the checkpoint", left, from)
	}
}

// A file without bytes whose hash is that of something else does not come, and is not asked for without end.
func TestEmptyFileOfAnotherHash(t *testing.T) {
	r, l := openRunner(t)
	r.Fetch(grid.Fetch{Attempt: attemptID(1), Files: []grid.File{{Path: "x", Blob: grid.BlobID{1}}}})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvFetched) == 1 })
	if ev := l.last(grid.EvFetched); ev.Err == "" {
		t.Error("it has come")
	}
}
