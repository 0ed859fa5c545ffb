package p2p

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
)

// secondAttempt has m run the task itself, after its first attempt was lost.
func (m *member) secondAttempt(task grid.TaskID, spec *grid.JobSpec) {
	m.do(func(fx *grid.Effects) {
		next := grid.AttemptID{Task: task, Attempt: grid.Attempt{Epoch: 1, N: 2}}
		m.fake.tasks[task] = &node.TaskView{ID: next, State: grid.Placed, Worker: m.self}
		fx.Changed = append(fx.Changed, task)
		m.fake.accept(next, spec, m.self, fx)
	})
}

// followed submits a job of one task and follows its standard output; ended receives the error or nil.
func (m *member) followed(t *testing.T, spec *grid.JobSpec) (task grid.TaskID, out *syncBuffer, ended chan error) {
	t.Helper()
	task = grid.TaskID{Job: m.job(1)}
	if err := m.Submit(t.Context(), task.Job, spec); err != nil {
		t.Fatal(err)
	}
	out, ended = &syncBuffer{}, make(chan error, 1)
	go func() { ended <- m.Output(t.Context(), out, task, false, 0, true) }()
	return task, out, ended
}

func TestOutputContinuesInTheNextAttempt(t *testing.T) {
	a, b := openPair(t)
	gate := filepath.Join(sharedFolder(t), "gate")
	spec := rig.Sh("echo one; until [ -e " + gate + " ]; do sleep 0.01; done; echo two")
	task, out, ended := a.followed(t, spec)
	rig.Await(t, "the first line", func() bool { return out.String() == "one\n" })
	b.close() // the first attempt is lost
	os.WriteFile(gate, nil, 0o644)
	a.secondAttempt(task, spec)
	if err := <-ended; err != nil || out.String() != "one\ntwo\n" {
		t.Errorf("followed %q, %v: want one and two, once each", out.String(), err)
	}
}

func TestOutputRestartsIfTheNextAttemptDiffers(t *testing.T) {
	a, b := openPair(t)
	mark := filepath.Join(sharedFolder(t), "mark")
	spec := rig.Sh("if mkdir " + mark + " 2>/dev/null; then echo lost; exec sleep 60; fi; echo done")
	task, out, ended := a.followed(t, spec)
	rig.Await(t, "the first attempt's line", func() bool { return out.String() == "lost\n" })
	b.close()
	a.secondAttempt(task, spec)
	if err := <-ended; err != nil || out.String() != "lost\ndone\n" {
		t.Errorf("followed %q, %v: want what each attempt printed, though both are five bytes long", out.String(), err)
	}
}

func TestOutputOfAQuickTaskOpensNoStream(t *testing.T) {
	a, b := openPair(t)
	var asked atomic.Int32
	b.transport.Host().SetStreamHandler(runner.OutputProtocol, func(st network.Stream) {
		asked.Add(1)
		st.Reset()
	})
	id := a.job(1)
	var out bytes.Buffer
	if err := a.Submit(t.Context(), id, rig.Sh("echo quick")); err != nil {
		t.Fatal(err)
	}
	a.result(grid.TaskID{Job: id})
	err := a.Output(t.Context(), &out, grid.TaskID{Job: id}, false, 0, true)
	if err != nil || out.String() != "quick\n" || asked.Load() != 0 {
		t.Errorf("%q, %v, %d streams: want the output, which came with the result, and no stream", out.String(), err,
			asked.Load())
	}
}

func TestOutputIsReadableByTheOriginOnly(t *testing.T) {
	a, b := openPair(t)
	c := openMember(t, filepath.Join(t.TempDir(), "c"), nil, a.token(), b.token())
	waitUp(t, b, c)
	if err := a.Submit(t.Context(), a.job(1), rig.Sh("echo secret; sleep 30")); err != nil {
		t.Fatal(err)
	}
	attempt := grid.AttemptID{Task: grid.TaskID{Job: a.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	worker := b
	if v, _ := a.fake.Task(attempt.Task); v.Worker == c.self {
		worker, c = c, b
	}
	r, err := c.runner.OpenOutput(t.Context(), worker.self, attempt, 0, 0, true)
	if err == nil {
		r.Close()
		t.Error("another node than the job's own reads its output")
	}
	if runner.NoOutput(err) {
		t.Errorf("another node than the job's own: %v: want to be refused", err)
	}
}
