package p2p

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
	"skep/internal/format1"
	"skep/node"
	"skep/node/p2p/blob"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/store"
	"skep/node/p2p/wire"
)

// formerNode is a data folder as a node of the last version left it, with jobs that it alone keeps.
type formerNode struct {
	t      *testing.T
	dir    string
	self   grid.NodeID
	key    ed25519.PrivateKey
	jobs   []format1.Job
	others []grid.Record
}

func newFormerNode(t *testing.T, name string) *formerNode {
	f := &formerNode{t: t, dir: filepath.Join(t.TempDir(), name)}
	var err error
	if f.self, err = Prepare(f.dir, [32]byte{1, 2, 3}); err == nil {
		f.key, err = identity.LoadKey(f.dir, f.self)
	}
	if err := errors.Join(err, os.Remove(filepath.Join(f.dir, preparedFile))); err != nil {
		t.Fatal(err)
	}
	return f
}

// blob stores a file of a job.
func (f *formerNode) blob(path, content string) grid.File {
	f.t.Helper()
	s, err := blob.Open(filepath.Join(f.dir, blobFolder), grid.GiB)
	if err != nil {
		f.t.Fatal(err)
	}
	defer s.Close()
	id, size, err := s.Put(f.t.Context(), strings.NewReader(content), grid.MiB, true)
	if err != nil {
		f.t.Fatal(err)
	}
	return grid.File{Path: path, Blob: id, Size: size}
}

// job adds a job; the tasks are the first ones that it has.
func (f *formerNode) job(nonce byte, spec *grid.JobSpec, tasks ...grid.TaskRecord) *format1.Job {
	f.t.Helper()
	j := format1.Job{ID: grid.JobID{Origin: f.self, Nonce: [10]byte{nonce}}, Submitted: time.Now().UnixNano()}
	spec.Submitter.Node = f.self
	var err error
	if j.Spec, err = wire.SealSpec(f.key, j.ID, spec); err != nil {
		f.t.Fatal(err)
	}
	for i := range tasks {
		tasks[i].ID.Task = grid.TaskID{Job: j.ID, Index: uint32(i)}
		j.Tasks = append(j.Tasks, tasks[i])
	}
	f.jobs = append(f.jobs, j)
	return &f.jobs[len(f.jobs)-1]
}

// accepted adds an attempt that this node has accepted: as by every node of a job without a register, with no members.
func (f *formerNode) accepted(j *format1.Job, index uint32, s grid.WorkState, r *grid.Result) {
	id := j.Tasks[index].ID
	f.others = append(f.others, grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: id, Spec: j.Spec,
		Class: grid.ClassOf(j.Spec), Lease: 3 * time.Second, State: s, Result: r}})
}

func (f *formerNode) write() {
	f.t.Helper()
	if err := format1.Write(filepath.Join(f.dir, store.File), f.self, 1, f.jobs, f.others...); err != nil {
		f.t.Fatal(err)
	}
}

func taskAt(s grid.TaskState, worker grid.NodeID, n uint32, r *grid.Result) grid.TaskRecord {
	t := grid.TaskRecord{State: s, Worker: worker, Result: r, Placed: 1}
	t.ID.Attempt = grid.Attempt{Epoch: 1, N: n}
	if s == grid.Ended {
		t.Done = 2
	}
	return t
}

func exited(code int32, out string) *grid.Result {
	return &grid.Result{Cause: grid.Exited, Exit: code, Wall: time.Second,
		Stdout: grid.Output{Inline: []byte(out), Size: grid.Bytes(len(out))}}
}

const cancelledExit = 130

// outcome is what a person sees of a job and its task 0.
type outcome struct {
	Pending, Placed, Ended, Failed int
	Exit                           int32
	Cancelled                      bool
	Out                            string
	Attempt                        uint32
}

func (m *member) outcome(id grid.JobID) (o outcome) {
	m.t.Helper()
	v := m.view(id)
	o = outcome{Pending: v.Pending, Placed: v.Placed, Ended: v.Ended, Failed: v.Failed, Exit: v.Exit,
		Cancelled: v.Cancelled}
	o.Attempt = m.task(grid.TaskID{Job: id}).ID.N
	if o.Ended == 0 {
		return o
	}
	var out syncBuffer
	if err := m.Output(context.Background(), &out, grid.TaskID{Job: id}, false, 0, false); err == nil {
		o.Out = out.String()
	}
	return o
}

// A node that starts in a folder of the last version has the jobs as they were: what has ended with its exit and
// output, what was cancelled, and what waited or ran goes on as after any restart.
func TestFolderOfTheLastVersion(t *testing.T) {
	t.Parallel()
	f := newFormerNode(t, "a")
	input, output := f.blob("in", "from the input\n"), f.blob("out/x", "collected\n")
	spec := func(count uint32, retries int32, script string) *grid.JobSpec {
		s := rig.Sh(script)
		s.Count, s.Retries = count, retries
		return s
	}
	want := map[byte]outcome{}

	done := exited(0, "task 0\n")
	done.Outputs = []grid.File{output}
	f.job(1, spec(2, 0, "echo"), taskAt(grid.Ended, f.self, 1, done), taskAt(grid.Ended, f.self, 2, exited(0, "")))
	want[1] = outcome{Ended: 2, Out: "task 0\n", Attempt: 1}

	f.job(2, spec(2, 0, "exit 3"), taskAt(grid.Ended, f.self, 1, exited(0, "")),
		taskAt(grid.Ended, grid.NodeID{9}, 1, exited(3, "")))
	want[2] = outcome{Ended: 2, Failed: 1, Exit: 3, Attempt: 1}

	gone := &grid.Result{Cause: grid.Cancelled, Exit: cancelledExit}
	f.job(3, spec(2, 0, "sleep 99"), taskAt(grid.Ended, f.self, 1, exited(0, "early\n")),
		taskAt(grid.Ended, f.self, 1, gone)).Cancelled = true
	want[3] = outcome{Ended: 2, Failed: 1, Exit: cancelledExit, Cancelled: true, Out: "early\n", Attempt: 1}

	waits := spec(1, 0, "cat in")
	waits.Inputs = []grid.File{input}
	f.job(4, waits)
	want[4] = outcome{Ended: 1, Out: "from the input\n", Attempt: 1}

	ran := f.job(5, spec(1, 2, "echo again"), taskAt(grid.Placed, f.self, 4, nil))
	f.accepted(ran, 0, grid.WorkRunning, nil)
	want[5] = outcome{Ended: 1, Out: "again\n", Attempt: 5}

	once := f.job(6, spec(1, 0, "echo again"), taskAt(grid.Placed, f.self, 1, nil))
	f.accepted(once, 0, grid.WorkRunning, nil)
	want[6] = outcome{Ended: 1, Failed: 1, Exit: grid.ExitSkep, Attempt: 1}

	queued := f.job(7, spec(1, 0, "echo queued"), taskAt(grid.Placed, f.self, 2, nil))
	f.accepted(queued, 0, grid.WorkQueued, nil)
	want[7] = outcome{Ended: 1, Out: "queued\n", Attempt: 2}

	finished := f.job(8, spec(1, 0, "echo again"), taskAt(grid.Placed, f.self, 1, nil))
	f.accepted(finished, 0, grid.WorkFinished, exited(5, "once\n"))
	want[8] = outcome{Ended: 1, Failed: 1, Exit: 5, Out: "once\n", Attempt: 1}

	nowhere := spec(1, 0, "echo")
	nowhere.Needs.Labels = []grid.LabelNeed{{Key: "gpu", Values: []string{"yes"}}}
	f.job(9, nowhere)
	want[9] = outcome{Pending: 1}

	trace := filepath.Join(sharedFolder(t), "ran")
	forgotten := f.job(10, spec(1, 0, "touch "+trace), taskAt(grid.Placed, f.self, 1, nil))
	f.accepted(forgotten, 0, grid.WorkQueued, nil)
	f.jobs = f.jobs[:9]
	f.write()

	var log syncBuffer
	open := func() *member {
		return openMember(t, f.dir, func(c *Config) {
			c.newNode = nil
			c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
	}
	copied := filepath.Join(f.dir, store.CopyFile)
	m := open()
	if s := log.String(); strings.Count(s, "database converted") != 1 || !strings.Contains(s, "jobs=9") ||
		!strings.Contains(s, copied) {
		t.Errorf("the log says:\n%s", s)
	}
	check := func() {
		t.Helper()
		for n := byte(1); n <= byte(len(want)); n++ {
			var got outcome
			rig.Await(t, "the end of job "+string('0'+rune(n)), func() bool {
				got = m.outcome(m.job(n))
				return got.Ended == want[n].Ended
			})
			if d := cmp.Diff(want[n], got); d != "" {
				t.Errorf("job %d: %s", n, d)
			}
		}
	}
	check()
	r := m.task(grid.TaskID{Job: m.job(1)}).Result
	if r == nil || len(r.Outputs) != 1 || r.Outputs[0].Blob != output.Blob || !m.Blobs().Has(output.Blob) {
		t.Errorf("result %+v: want its collected file", r)
	}
	if _, err := os.Stat(copied); err != nil {
		t.Error(err)
	}
	if err := m.Cancel(t.Context(), m.job(9), nil); err != nil {
		t.Error(err)
	}
	want[9] = outcome{Ended: 1, Failed: 1, Exit: cancelledExit, Cancelled: true}
	m.close()
	if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after it was stopped in order: %v", err)
	}
	m = open()
	check()
	m.close()
	if _, err := os.Stat(trace); err == nil {
		t.Error("an attempt of a job that is not here any more ran")
	}
	s, err := store.Open(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Load(func(r *grid.Record) error {
		if r.Kind == grid.RecWork {
			t.Errorf("attempt %v is still here, in state %d", r.Work.ID, r.Work.State)
		}
		return nil
	})
	if n := strings.Count(log.String(), "database converted"); n != 1 {
		t.Errorf("converted %d times", n)
	}
}

// task returns a task as the node sees it.
func (m *member) task(id grid.TaskID) (v node.TaskView) {
	m.t.Helper()
	if err := m.Read(context.Background(), func(n *node.Node, _ grid.Time) { v, _ = n.Task(id) }); err != nil {
		m.t.Fatal(err)
	}
	return v
}
