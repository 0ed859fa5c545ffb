package p2p

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

// rot flips a bit of a blob that was stored a moment ago, once the clock of files goes on: until then a file that is
// written to has the times that it had.
func (m *member) rot(f grid.File) {
	m.t.Helper()
	name, probe := f.Blob.String(), filepath.Join(m.t.TempDir(), "probe")
	stored, err := os.Stat(filepath.Join(m.cfg.DataDir, blobFolder, name[:2], name[2:]))
	if err != nil {
		m.t.Fatal(err)
	}
	rig.Await(m.t, "the clock of files goes on", func() bool {
		err := os.WriteFile(probe, nil, 0o600)
		now, err2 := os.Stat(probe)
		return err == nil && err2 == nil && now.ModTime().After(stored.ModTime())
	})
	m.corrupt(f)
}

// begin starts an attempt of this node's own, as a step does, and returns its end.
func (m *member) begin(nonce byte, spec *grid.JobSpec, inputs ...grid.File) *grid.Result {
	m.t.Helper()
	id := grid.AttemptID{Task: grid.TaskID{Job: m.job(nonce)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	m.do(func(fx *grid.Effects) {
		m.fake.tasks[id.Task] = &node.TaskView{ID: id, State: grid.Placed, Worker: m.self}
		m.fake.origin[id] = m.self
		fx.Starts = append(fx.Starts, grid.Start{Attempt: id, Spec: spec, Inputs: inputs})
	})
	return m.result(id.Task)
}

// Of two nodes that have a blob one or both have a flipped bit in it, whatever it is to the task: the task gets the
// right bytes, of the other node, or does not begin, and its end names the file.
func TestAFlippedBitInEachKindOfInput(t *testing.T) {
	a, b := openPair(t)
	nonce := byte(0)
	for _, c := range []struct {
		kind string
		path string
		text string
		run  string // prints the right bytes
		set  func(spec *grid.JobSpec, f grid.File) (inputs []grid.File)
	}{
		{"input", "in", "right ", "cat in", func(spec *grid.JobSpec, f grid.File) []grid.File {
			spec.Inputs = append(spec.Inputs, f)
			return nil
		}},
		{"program", "prog", "#!/bin/sh\necho right ", "", func(spec *grid.JobSpec, f grid.File) []grid.File {
			f.Exec = true
			spec.Command, spec.Inputs = []string{"./prog"}, append(spec.Inputs, f)
			return nil
		}},
		{"file of lines", "lines", "right ", "echo \"$SKEP_LINE\"", func(spec *grid.JobSpec, f grid.File) []grid.File {
			spec.Inputs = append(spec.Inputs, f)
			spec.Array = &grid.Array{Axes: []grid.Axis{{Name: "SKEP_LINE", Lines: f.Path, Count: 1}}}
			return nil
		}},
		{"standard input", "stdin", "right ", "cat", func(spec *grid.JobSpec, f grid.File) []grid.File {
			spec.Inputs, spec.Stdin = append(spec.Inputs, f), grid.StdinInput
			return nil
		}},
		{"file of another job", "left", "right ", "cat left", func(_ *grid.JobSpec, f grid.File) []grid.File {
			return []grid.File{f}
		}},
		{"checkpoint", grid.CheckpointFolder + "/3/state", "right ", "cat \"$SKEP_CHECKPOINT/state\"",
			func(_ *grid.JobSpec, f grid.File) []grid.File { return []grid.File{f} }},
	} {
		for _, where := range []string{"nowhere", "here", "everywhere"} {
			nonce++
			text := []byte(c.text + strings.Repeat("and well ", 20) + where + "\n") // flipped in the middle
			f := a.put(c.path, text, false)
			b.put(c.path, text, false)
			if where != "nowhere" {
				a.rot(f)
			}
			if where == "everywhere" {
				b.rot(f)
			}
			spec := rig.Sh(c.run)
			inputs := c.set(spec, f)
			r := a.begin(nonce, spec, inputs...)
			right := bytes.HasSuffix(text, r.Stdout.Inline) && bytes.Contains(r.Stdout.Inline, []byte(where))
			switch {
			case where != "everywhere":
				if r.Cause != grid.Exited || r.Exit != 0 || !right {
					t.Errorf("%s, damaged %s: %v, exit %d, %q, %q", c.kind, where, r.Cause, r.Exit, r.Error, r.Stdout.Inline)
				}
			case r.Cause != grid.Failed || r.Exit != 125 || r.Stdout.Size != 0:
				t.Errorf("%s, damaged everywhere: %v, exit %d, prints %q", c.kind, r.Cause, r.Exit, r.Stdout.Inline)
			case !strings.Contains(r.Error, f.Blob.String()[:12]) || !strings.Contains(r.Error, f.Path):
				t.Errorf("%s, damaged everywhere: it says %q: want the file and its hash", c.kind, r.Error)
			}
		}
	}
}

// The same of what tasks have left: its reader gets the right bytes or an error, on both streams and of files.
func TestAFlippedBitInEachKindOfOutput(t *testing.T) {
	a, b := openPair(t)
	for i, kind := range []string{"stdout", "stderr", "file"} {
		content := noiseOf(uint64(20+i), 200_000)
		f := b.put("out", content, false)
		a.put("out", content, false)
		task := grid.TaskID{Job: a.job(byte(i))}
		a.do(func(fx *grid.Effects) {
			r, o := &grid.Result{Cause: grid.Exited}, grid.Output{Blob: f.Blob, Size: f.Size}
			switch kind {
			case "stdout":
				r.Stdout = o
			case "stderr":
				r.Stderr = o
			default:
				r.Outputs = []grid.File{f}
			}
			a.fake.tasks[task] = &node.TaskView{ID: grid.AttemptID{Task: task}, State: grid.Ended, Worker: b.self, Result: r}
			fx.Changed = append(fx.Changed, task)
		})
		rig.Await(t, "the task is known", func() bool { _, ok := a.fake.Task(task); return ok })
		read := func() (got []byte, err error) {
			if kind != "file" {
				var out bytes.Buffer
				err := a.Output(t.Context(), &out, task, kind == "stderr", 0, false)
				return out.Bytes(), err
			}
			x, err := a.runner.OpenBlob(t.Context(), b.self, &f, nil)
			if err != nil {
				return nil, err
			}
			defer x.Close()
			got = make([]byte, f.Size+1)
			n, _ := x.Read(got)
			return got[:n], nil
		}
		for _, where := range []string{"nowhere", "here", "everywhere"} {
			if where != "nowhere" {
				a.rot(f)
			}
			if where == "everywhere" {
				b.rot(f)
			}
			got, err := read()
			if whole := bytes.Equal(got, content); whole != (where != "everywhere") || whole != (err == nil) || !whole &&
				(len(got) > 0 || !strings.Contains(err.Error(), f.Blob.String()[:12])) {
				t.Errorf("%s, damaged %s: %d bytes, %v", kind, where, len(got), err)
			}
		}
	}
}
