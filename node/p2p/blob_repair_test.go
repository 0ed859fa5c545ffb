package p2p

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"skep/grid"
	"skep/node"
)

// flip changes a bit in the middle of a blob's file.
func (m *member) flip(f grid.File) {
	m.t.Helper()
	name := f.Blob.String()
	path := filepath.Join(m.cfg.DataDir, blobFolder, name[:2], name[2:])
	if err := os.Chmod(path, 0o600); err != nil {
		m.t.Fatal(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	defer w.Close()
	bit, at := make([]byte, 1), int64(f.Size)/2
	if _, err := w.ReadAt(bit, at); err != nil {
		m.t.Fatal(err)
	}
	bit[0] ^= 4
	if _, err := w.WriteAt(bit, at); err != nil {
		m.t.Fatal(err)
	}
}

// A node whose disk has changed a blob gives it to nobody: whoever asks gets it from another node, and the node itself
// gets it again.
func TestDamagedBlobIsNotServed(t *testing.T) {
	a, b, c := three(t)
	content := noiseOf(1, 3<<20)
	f := b.put("big", content, false)
	c.put("big", content, false)
	b.pin([]grid.File{f})
	defer b.unpin([]grid.File{f})
	b.flip(f)
	if err := a.fetches.get(t.Context(), b.self, &f, c.self); err != nil || !a.holds(f) {
		t.Errorf("fetch: %v", err)
	}
	if n := b.Dropped()["damaged"]; n != 1 {
		t.Errorf("%d damages were found: want one", n)
	}
	await(t, "it is brought again", func() bool { return b.holds(f) })
	if n := a.Dropped()["blob"]; n != 0 {
		t.Errorf("%d false blobs came: want the node that has a bad disk to say nothing", n)
	}
}

// What is served is hashed on its way: what changed after it was opened does not come to its end.
func TestServedBlobIsHashed(t *testing.T) {
	a, b, _ := three(t)
	f := b.put("big", noiseOf(1, 8<<20), false)
	src := &blobSource{f: a.fetches, ctx: t.Context(), file: &f, holders: []grid.NodeID{b.self}}
	defer src.close()
	got := 0
	piece := make([]byte, 64<<10)
	for got < 1<<20 {
		n, err := src.Read(piece)
		if err != nil {
			t.Fatal(err)
		}
		if got += n; n > 0 && got < 2*len(piece) {
			b.flip(f) // the stream has begun, and most of it is not sent yet
		}
	}
	for {
		n, err := src.Read(piece)
		if got += n; err != nil {
			break
		}
	}
	if got >= int(f.Size) {
		t.Errorf("all of %d bytes came", got)
	}
	if b.Dropped()["damaged"] == 0 || b.Blobs().Has(f.Blob) {
		t.Errorf("it is still given to others: %v", b.Dropped())
	}
}

// An input that is damaged after it has come is brought again before the task starts; it has a copy of its own,
// whatever it does with it.
func TestDamagedInputIsBroughtAgain(t *testing.T) {
	a, b := pair(t)
	a.toy.mu.Lock()
	a.toy.local = true
	a.toy.mu.Unlock()
	content := noiseOf(7, 300_000)
	f := a.put("in", content, false)
	b.put("in", content, false)
	spec := sh("cat in; chmod 700 in; echo spoiled > in; ln in again; echo worse >> again")
	spec.Inputs = []grid.File{f}
	for nonce := range byte(3) {
		if nonce > 0 {
			a.flip(f)
		}
		r := a.run(nonce, spec)
		if r.Exit != 0 || r.Stdout.Blob != f.Blob || r.Stderr.Size != 0 {
			t.Fatalf("%d: the task was given something else: %+v", nonce, r)
		}
		if !a.holds(f) {
			t.Errorf("%d: the blob is not what it was", nonce)
		}
	}
	if n := a.Dropped()["damaged"]; n != 2 {
		t.Errorf("%d damages were found: want two", n)
	}
}

// What a task printed is not printed wrong: it comes from another node, or not at all.
func TestDamagedOutputIsNotPrinted(t *testing.T) {
	a, b := pair(t)
	printed := noiseOf(8, 200_000)
	f := b.put("output", printed, false)
	a.put("output", printed, false)
	task := grid.TaskID{Job: a.job(1)}
	a.do(func(fx *grid.Effects) {
		a.toy.tasks[task] = &node.TaskView{ID: grid.AttemptID{Task: task}, State: grid.Ended, Worker: b.self,
			Result: &grid.Result{Cause: grid.Exited, Stdout: grid.Output{Blob: f.Blob, Size: f.Size}}}
		fx.Changed = append(fx.Changed, task)
	})
	await(t, "the task is known", func() bool { _, ok := a.toy.Task(task); return ok })
	for _, where := range []string{"nowhere", "here", "everywhere"} {
		if where != "nowhere" {
			a.flip(f)
		}
		if where == "everywhere" {
			b.flip(f)
		}
		var out bytes.Buffer
		err := a.Output(t.Context(), &out, task, false, 0, false)
		if whole := bytes.Equal(out.Bytes(), printed); whole != (where != "everywhere") || whole != (err == nil) || !whole && out.Len() > 0 {
			t.Errorf("damaged %s: %d bytes, %v", where, out.Len(), err)
		}
	}
}
