package sim

import (
	"fmt"
	"strings"

	"skep/grid"
	"skep/node"
)

// books are what the world itself knows of every job and task, by index and without maps.
type books struct {
	jobs      []job
	tasks     []task
	works     []accepted
	freeWork  int32 // chain of unused works, from 1
	nextWork  int   // submission
	nextFault int
	leaving   int  // nodes that have said so and not stopped
	settled   bool // all submissions and faults have happened
	left      int  // tasks that must end and have not; known once settled
	work      int  // work records that must go, on nodes that are up for origins that are; known once settled
	deadline  grid.Time
	views     []node.JobView // scratch
}

// job is a submission.
type job struct {
	id       grid.JobID
	class    string
	origin   int32
	first    int32           // of its tasks
	next     int32           // in the chain of its origin, from 1
	record   *grid.JobRecord // on its origin's disk; nil = none
	count    int32
	tried    bool
	said     bool // its node has taken it
	rejected bool
}

// task is what is durable of a task, and what runs of it.
type task struct {
	job    int32
	runs   int32 // chain
	starts int32 // that were not refused
	worker int32 // that its record names; −1 = none
	owner  int32 // that last accepted it; −1 = none
	state  grid.TaskState
	last   grid.Attempt // of its record
	owned  grid.Attempt // that the owner accepted
	void   grid.Attempt // whose result ends nothing, and need not be written down: refused, or lost
	ended  grid.Time
	result *grid.Result

	works  int32 // chain of records of its attempts on workers' disks, from 1
	saved  bool  // record is on its origin's disk
	record grid.TaskRecord
}

// open opens the books for the workload.
func (w *World) open() {
	w.jobs = make([]job, len(w.cfg.Work))
	n := 0
	for i, s := range w.cfg.Work {
		w.jobs[i] = job{id: submissionID(w.hosts[s.Node].id, i), class: grid.ClassOf(s.Spec), origin: int32(s.Node),
			first: int32(n), count: int32(s.Spec.Count)}
		n += int(s.Spec.Count)
	}
	for i := len(w.jobs) - 1; i >= 0; i-- {
		d := &w.hosts[w.jobs[i].origin].disk
		w.jobs[i].next, d.jobs = d.jobs, int32(i)+1
	}
	w.tasks = make([]task, n)
	for i := range w.jobs {
		for k := range w.jobs[i].count {
			w.tasks[w.jobs[i].first+k] = task{job: int32(i), runs: -1, worker: -1, owner: -1}
		}
	}
}

// JobID returns the identity of a submission.
func (w *World) JobID(submission int) grid.JobID { return w.jobs[submission].id }

// job returns a submission; nil for one that nobody made.
func (w *World) job(i int32, id grid.JobID) *job {
	if n := get32(id.Nonce[:]); n < uint32(len(w.jobs)) && w.jobs[n].id == id {
		return &w.jobs[n]
	}
	w.failf(i, "speaks of job %v, which nobody submitted", id)
	return nil
}

// task returns the index of a task. It fails the run where node i speaks of one that nobody submitted.
func (w *World) task(i int32, id grid.TaskID) int32 {
	if n := get32(id.Job.Nonce[:]); n < uint32(len(w.jobs)) {
		if j := &w.jobs[n]; j.id == id.Job && id.Index < uint32(j.count) {
			return j.first + int32(id.Index)
		}
	}
	w.failf(i, "speaks of task %v, which nobody submitted", id)
	return -1
}

// name is how a failure calls a task.
func (w *World) name(t int32) string {
	j := w.tasks[t].job
	return fmt.Sprintf("task %d of submission %d (from n%d)", t-w.jobs[j].first, j, w.jobs[j].origin)
}

// submitNext hands in what is due.
func (w *World) submitNext() {
	work := w.cfg.Work
	for w.nextWork < len(work) && grid.Time(work[w.nextWork].At) <= w.now {
		if s := work[w.nextWork]; s.Cancel > 0 {
			w.push(max(w.now, grid.Time(s.Cancel)), kindCancel, int32(s.Node), 0, uint64(w.nextWork))
		}
		w.nextWork++
		w.submit(int32(w.nextWork - 1))
	}
	if w.nextWork < len(work) {
		w.push(grid.Time(work[w.nextWork].At), kindSubmit, 0, 0, 0)
	}
}

// cancel cancels a submission that its node has taken.
func (w *World) cancel(e *Event) {
	if j := &w.jobs[e.Arg]; j.said && w.hosts[j.origin].up {
		w.ev = grid.Event{Kind: grid.EvCancel, Caller: e.Arg + 1, Job: j.id}
		w.step(j.origin, &w.ev)
	}
}

// reply is what a client hears.
func (w *World) reply(i int32, r *grid.Reply) {
	n := int(r.Caller) - 1
	if n < 0 || n >= len(w.jobs) || w.jobs[n].origin != i {
		w.failf(i, "answers caller %d, who asked nothing here", r.Caller)
		return
	}
	j, h := &w.jobs[n], &w.hosts[i]
	if r.Err == "" && j.record == nil {
		w.failf(i, "says that it has taken submission %d, of which nothing is on its disk", n)
	}
	for k, s := range h.unsaid {
		if int(s) == n {
			h.unsaid = append(h.unsaid[:k], h.unsaid[k+1:]...)
			break
		}
	}
	if r.Err != "" && !j.said && !j.rejected {
		j.rejected = true
		if w.settled {
			w.left -= int(j.count)
		}
	}
	j.said = j.said || r.Err == ""
}

// done reports whether nothing is to come: all has happened that was to happen, and all has ended.
func (w *World) done() bool {
	if !w.settled {
		if w.nextWork < len(w.jobs) || w.nextFault < len(w.cfg.Faults) || w.leaving > 0 {
			return false
		}
		w.reckon()
	}
	if w.left == 0 && w.work == 0 && w.running == 0 {
		return true
	}
	if w.now > w.deadline {
		w.failf(-1, "%v after the last fault and submission %s", w.cfg.Bound, w.missing())
		return true
	}
	return false
}

// reckon counts what must end from now on. A node that is down now stays down: its jobs need not end.
func (w *World) reckon() {
	w.settled = true
	w.deadline = w.now.Add(w.cfg.Bound)
	for i := range w.hosts {
		h := &w.hosts[i]
		for at := h.disk.works; at != 0; at = w.works[at-1].here[1] {
			if h.up && w.mustEnd(&w.jobs[w.tasks[w.works[at-1].task].job]) {
				w.work++
			}
		}
	}
	for i := range w.jobs {
		if !w.mustEnd(&w.jobs[i]) {
			continue
		}
		for k := range w.jobs[i].count {
			if w.tasks[w.jobs[i].first+k].state != grid.Ended {
				w.left++
			}
		}
	}
}

func (w *World) mustEnd(j *job) bool {
	h := &w.hosts[j.origin]
	return !j.rejected && (h.up || h.boots == 0)
}

// missing says what has not ended.
func (w *World) missing() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks have not ended, %d run, %d work records are kept", w.left, w.running, w.work)
	shown := 0
	for k := range w.tasks {
		t := &w.tasks[k]
		if t.state == grid.Ended || !w.mustEnd(&w.jobs[t.job]) || shown == 5 {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n  %s: on disk %v, attempt %v, worker n%d; last accepted %v by n%d; started %d times",
			w.name(int32(k)), t.state, t.last, t.worker, t.owned, t.owner, t.starts)
		b.WriteString(w.waits(t, uint32(int32(k)-w.jobs[t.job].first)))
		for r := t.runs; r >= 0; r = w.runs[r].same {
			fmt.Fprintf(&b, "; %v runs on n%d", w.runs[r].id.Attempt, w.runs[r].node)
		}
	}
	for i := range w.hosts {
		if h := &w.hosts[i]; h.up && h.disk.work > 0 && shown < 10 {
			shown++
			fmt.Fprintf(&b, "\n  n%d keeps %d work records", i, h.disk.work)
		}
	}
	return b.String()
}

// waits says why a task waits, where its origin can tell.
func (w *World) waits(t *task, index uint32) string {
	j := &w.jobs[t.job]
	m, ok := w.hosts[j.origin].member.(interface {
		Task(grid.TaskID) (node.TaskView, bool)
	})
	if !ok {
		return ""
	}
	v, _ := m.Task(grid.TaskID{Job: j.id, Index: index})
	s := "; there " + v.State.String()
	if v.Waits.Why != grid.WhyNone {
		s += ", waits: " + strings.TrimSpace(v.Waits.Why.String()+" "+v.Waits.Detail)
	}
	return s
}
