package p2p

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
	"skep/node/p2p/wire"
)

// corrupt flips a bit in the middle of a blob's file.
func (m *member) corrupt(f grid.File) {
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

// A node serves no damaged blob: the asker gets it from another node, and the node itself fetches it again.
func TestDamagedBlobIsNotServed(t *testing.T) {
	a, b, c := openThree(t)
	content := noiseOf(1, 3<<20)
	f := b.put("big", content, false)
	c.put("big", content, false)
	b.Blobs().Pin(f.Blob)
	defer b.Blobs().Unpin(f.Blob)
	b.corrupt(f)
	if err := a.runner.Get(t.Context(), b.self, &f, c.self); err != nil || !a.hasBlob(f) {
		t.Errorf("fetch: %v", err)
	}
	if n := b.Dropped()["damaged"]; n != 1 {
		t.Errorf("%d damages were found: want one", n)
	}
	rig.Await(t, "it is brought again", func() bool { return b.hasBlob(f) })
	if n := a.Dropped()["blob"]; n != 0 {
		t.Errorf("%d false blobs came: want the node that has a bad disk to say nothing", n)
	}
}

// A blob is verified while it is served: if it has changed since it was opened, the stream ends early.
func TestServedBlobIsVerified(t *testing.T) {
	a, b, _ := openThree(t)
	f := b.put("big", noiseOf(1, 8<<20), false)
	src, err := otherNodes{a.Driver}.Open(t.Context(), b.self, runner.BlobProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Reset()
	if _, err := src.Write(append(f.Blob[:], make([]byte, 8)...)); err != nil { // from the first byte on
		t.Fatal(err)
	}
	var answer [9]byte
	if _, err := io.ReadFull(src, answer[:]); err != nil || answer[0] != wire.StatusOK {
		t.Fatalf("answer %x, %v", answer, err)
	}
	got := 0
	piece := make([]byte, 64<<10)
	for got < 1<<20 {
		n, err := src.Read(piece)
		if err != nil {
			t.Fatal(err)
		}
		if got += n; n > 0 && got < 2*len(piece) {
			b.corrupt(f) // most of the stream is not sent yet
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

// An input damaged after it was stored is fetched again before the task starts; the task has its own copy, whatever
// it does with it.
func TestDamagedInputIsFetchedAgain(t *testing.T) {
	a, b := openPair(t)
	a.fake.mu.Lock()
	a.fake.local = true
	a.fake.mu.Unlock()
	content := noiseOf(7, 300_000)
	f := a.put("in", content, false)
	b.put("in", content, false)
	spec := rig.Sh("cat in; chmod 700 in; echo spoiled > in; ln in again; echo worse >> again")
	spec.Inputs = []grid.File{f}
	for nonce := range byte(3) {
		if nonce > 0 {
			a.corrupt(f)
		}
		r := a.run(nonce, spec)
		if r.Exit != 0 || r.Stdout.Blob != f.Blob || r.Stderr.Size != 0 {
			t.Fatalf("%d: the task was given something else: %+v", nonce, r)
		}
		if !a.hasBlob(f) {
			t.Errorf("%d: the blob is not what it was", nonce)
		}
	}
	if n := a.Dropped()["damaged"]; n != 2 {
		t.Errorf("%d damages were found: want two", n)
	}
}

// Damaged output is not printed: it is fetched from another node, or not shown at all.
func TestDamagedOutputIsNotPrinted(t *testing.T) {
	a, b := openPair(t)
	printed := noiseOf(8, 200_000)
	f := b.put("output", printed, false)
	a.put("output", printed, false)
	task := grid.TaskID{Job: a.job(1)}
	a.do(func(fx *grid.Effects) {
		a.fake.tasks[task] = &node.TaskView{ID: grid.AttemptID{Task: task}, State: grid.Ended, Worker: b.self,
			Result: &grid.Result{Cause: grid.Exited, Stdout: grid.Output{Blob: f.Blob, Size: f.Size}}}
		fx.Changed = append(fx.Changed, task)
	})
	rig.Await(t, "the task is known", func() bool { _, ok := a.fake.Task(task); return ok })
	for _, where := range []string{"nowhere", "here", "everywhere"} {
		if where != "nowhere" {
			a.corrupt(f)
		}
		if where == "everywhere" {
			b.corrupt(f)
		}
		var out bytes.Buffer
		err := a.Output(t.Context(), &out, task, false, 0, false)
		if whole := bytes.Equal(out.Bytes(), printed); whole != (where != "everywhere") || whole != (err == nil) || !whole &&
			out.Len() > 0 {
			t.Errorf("damaged %s: %d bytes, %v", where, out.Len(), err)
		}
	}
}
