package child

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// fakeGrid is the API of a node of a child, as far as an engine needs it.
type fakeGrid struct {
	mu     sync.Mutex
	jobs   map[string]*v1.Job
	posted []v1.Submission
	lose   int // of so many submissions the answer does not come

	refuses map[string]int // statuses for paths, or IDs of jobs
	printed int64          // by each task, which nobody can read
}

func (f *fakeGrid) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	refuse := func(code int, why string) {
		w.Header().Set("Content-Type", v1.ProblemType)
		w.WriteHeader(code)
		answer(v1.Problem{Status: code, Detail: why})
	}
	id, of, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/jobs/"), "/")
	job := f.jobs[id]
	switch {
	case f.refuses[r.URL.Path]+f.refuses[id] > 0:
		refuse(f.refuses[r.URL.Path]+f.refuses[id], "is refused")
	case r.URL.Path == "/v1/version":
		answer(v1.Version{Node: "node", Network: "child"})
	case r.URL.Path == "/v1/nodes":
		answer(v1.NodeList{Nodes: []v1.Node{machine("node", v1.NodeSelf, 4, "none")}})
	case r.URL.Path == "/v1/jobs" && r.Method == http.MethodPost:
		var s v1.Submission
		_ = json.NewDecoder(r.Body).Decode(&s)
		f.posted = append(f.posted, s)
		if have := f.jobs[s.ID]; have != nil && have.Name != s.Spec.Name {
			refuse(http.StatusConflict, "was submitted before with another specification")
			return
		}
		f.jobs[s.ID] = &v1.Job{ID: s.ID, Name: s.Spec.Name, State: v1.JobPending, Count: 1}
		if f.lose > 0 {
			f.lose--
			panic(http.ErrAbortHandler)
		}
		answer(f.jobs[s.ID])
	case r.URL.Path == "/v1/jobs":
		page := v1.JobPage{}
		for _, j := range f.jobs {
			if !j.Over() {
				page.Jobs = append(page.Jobs, v1.ListedJob{Job: *j})
			}
		}
		answer(page)
	case job == nil:
		refuse(http.StatusNotFound, "is not known")
	case of == "cancel":
		job.Ended, job.State = 1, v1.JobCancelled
		answer(job)
	case of == "tasks":
		answer(v1.TaskPage{Job: id, Tasks: []v1.Task{{Result: &v1.Result{Cause: causeFor(job),
			Stdout: v1.Output{Size: f.printed}}}}})
	default:
		answer(job)
	}
}

func causeFor(j *v1.Job) string {
	if j.State == v1.JobCancelled {
		return "cancelled"
	}
	return "exited"
}

// finish ends all jobs.
func (f *fakeGrid) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.Ended == 0 {
			j.Ended, j.State = 1, v1.JobDone
		}
	}
}

func (f *fakeGrid) submissions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.posted)
}

// open opens an engine on the fake, possibly again in the same folder.
func (f *fakeGrid) open(t *testing.T, dir string) *Engine {
	t.Helper()
	return f.openWith(t, Options{Dir: dir})
}

func (f *fakeGrid) openWith(t *testing.T, o Options) *Engine {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	api := client.OpenRemote(client.Remote{Addr: strings.TrimPrefix(srv.URL, "http://"), Token: "x"}, t.TempDir())
	labels := map[string]string{"os": "linux", "arch": "amd64"}
	g, err := Look(t.Context(), api, labels)
	if err != nil {
		t.Fatal(err)
	}
	o.API, o.Parent, o.Labels, o.Poll, o.Report = api, "parent", labels, 10*time.Millisecond, func(float64) {}
	e, err := Open(o, g)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Former(func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func work(t *testing.T, e *Engine) *Work {
	t.Helper()
	w := &Work{Key: "key", Dir: filepath.Join(e.Folder(), "a"), Argv: []string{"true"}, MaxOutput: 100,
		Env: []string{"SKEP_INDEX=7", "SKEP_NODE=n"}}
	w.Job = &grid.JobSpec{Name: "job", Engine: grid.EngineProcess, Command: []string{"true"}, Count: 9,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
	if err := e.Prepare(w.Dir); err != nil {
		t.Fatal(err)
	}
	return w
}

// wait waits for the end of a task, for a minute at most.
func wait(t *testing.T, task *Task) process.Result {
	t.Helper()
	select {
	case <-task.Done():
	case <-time.After(time.Minute):
		t.Fatalf("it has not ended: %q", task.Last().Text)
	}
	return task.Wait()
}

// The answer to a submission does not come: the job is found by its ID, and no other is submitted. What it is submitted
// with is the task's.
func TestLostAnswer(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}, lose: 1}
	e := f.open(t, t.TempDir())
	task, err := e.Start(work(t, e), nil)
	if err != nil {
		t.Fatal(err)
	}
	f.finish()
	if r := wait(t, task); r.Code() != 0 || task.Never() || f.submissions() != 1 {
		t.Errorf("%+v, %d submissions: want one", r, f.submissions())
	}
	s := &f.posted[0].Spec
	if s.Count != 1 || s.Env["SKEP_INDEX"] != "7" || s.Env["SKEP_NODE"] != "" || len(s.Outer.Outer) != 1 {
		t.Errorf("%+v: want one task with the index of the parent and not its node", s)
	}
}

// leave leaves an order of an earlier run in the folder of attempts.
func leave(t *testing.T, attempts, key, id string, withdrawn bool) Order {
	t.Helper()
	o := Order{Key: key, Dir: filepath.Join(attempts, key), ID: id, Spec: v1.Spec{Name: "job"}, Withdrawn: withdrawn}
	if err := os.MkdirAll(process.Work(o.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := external.WriteRecord(filepath.Join(o.Dir, orderFile), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// The node was killed before, or while, it submitted an order. The job is not there, so its ID is taken first: then the
// task has not run and may start anew. Where the submission came in between it is that job which is followed.
func TestKilledBeforeSubmission(t *testing.T) {
	for _, came := range []bool{false, true} {
		f, dir := &fakeGrid{jobs: map[string]*v1.Job{}}, t.TempDir()
		o := leave(t, dir, "key", client.Draw()+"-node", false)
		if came {
			f.jobs[o.ID] = &v1.Job{ID: o.ID, Name: "job", State: v1.JobDone, Count: 1, Ended: 1}
		}
		e := f.open(t, dir)
		task, err := e.Adopt("key", nil)
		if task == nil {
			t.Fatal(err)
		}
		r := wait(t, task)
		if task.Never() == came || came && r.Code() != 0 {
			t.Errorf("came %t: %+v, never %t", came, r, task.Never())
		}
		if !came && f.jobs[o.ID].State != v1.JobCancelled {
			t.Errorf("%+v: want that a late submission is refused", f.jobs[o.ID])
		}
	}
	f := &fakeGrid{jobs: map[string]*v1.Job{}}
	e := f.open(t, t.TempDir())
	task := e.newTask(Order{Key: "k", Dir: t.TempDir(), ID: "id"})
	f.mu.Lock()
	f.jobs["id"] = &v1.Job{ID: "id", Name: "job", Count: 1} // since the last look
	f.mu.Unlock()
	if gone, err := task.withdraw(); gone || err != nil || !task.order.Submitted {
		t.Errorf("gone %t, %v: want that the submission was first", gone, err)
	}
}

// What is cancelled here is cancelled there; what somebody cancels there is lost.
func TestCancelPasses(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}}
	e := f.open(t, t.TempDir())
	task, err := e.Start(work(t, e), nil)
	if err != nil {
		t.Fatal(err)
	}
	task.Cancel()
	if r := wait(t, task); r.Cause != process.Cancelled || f.jobs[task.Name()].State != v1.JobCancelled {
		t.Errorf("%+v, there %+v: want both cancelled", r, f.jobs[task.Name()])
	}
}
