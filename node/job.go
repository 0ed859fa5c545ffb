package node

import (
	"fmt"
	"slices"

	"skep/grid"
)

// job is a job submitted here. Its tasks are dense; what a task needs only while it looks for its place or
// runs is in its live part.
type job struct {
	id        grid.JobID
	spec      *grid.JobSpec
	class     string
	submitted int64
	arrived   grid.Time // as submitted, on this boot's clock; may be before its zero
	done      int64
	cancelled bool
	tasks     []task
	next      uint32 // tasks before it have been looked at
	counts    [grid.Ended + 1]int
	failed    int
	exit      int32
	nobody    grid.Time // until then nobody is known to fit and no search is worth repeating
}

type task struct {
	state   grid.TaskState
	attempt grid.Attempt // the last one made
	worker  grid.NodeID
	lost    int32
	result  *grid.Result
	placed  int64
	began   int64
	done    int64
	traces  []grid.Trace
	live    *live
}

// keepTraces bounds what explain tells of a task: the first and the newest.
const keepTraces = 24

// attempt returns the ID of a task's last attempt.
func (j *job) attempt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: j.tasks[i].attempt}
}

// submit takes a job on. It is this node's to bring to an end as soon as its record is on disk, and the
// caller hears of it only then. A job that is here already is answered the same way again.
func (n *Node) submit(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if n.jobs[ev.Job] != nil {
		fx.Reply(ev.Caller, ev.Job, "")
		return
	}
	err := ev.Spec.Check()
	if err == nil && ev.Job.Origin != n.cfg.Self {
		err = fmt.Errorf("job %s: belongs to another node", ev.Job.Short())
	}
	if err == nil {
		_, err = n.policy(ev.Spec.Policy)
	}
	if err != nil {
		fx.Reply(ev.Caller, ev.Job, err.Error())
		return
	}
	j := n.newJob(ev.Job, ev.Spec, n.wall.At(now).UnixNano())
	j.arrived = now
	n.fresh = append(n.fresh, j)
	n.rates.arrive(now, j.spec, j.class, int(j.spec.Count))
	n.saveJob(j, fx)
	fx.Reply(ev.Caller, ev.Job, "")
	n.changed(now, fx)
}

func (n *Node) newJob(id grid.JobID, spec *grid.JobSpec, submitted int64) *job {
	j := &job{id: id, spec: spec, class: grid.ClassOf(spec), submitted: submitted, tasks: make([]task, spec.Count)}
	for i := range j.tasks {
		j.tasks[i].state = grid.Pending
	}
	j.counts[grid.Pending] = len(j.tasks)
	n.jobs[id] = j
	return j
}

// cancel ends every task of a job that has not ended. No attempt of it starts anywhere once its origin
// says so: whoever still holds one is told to drop it, and told again at its next beat.
func (n *Node) cancel(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := n.jobs[ev.Job]
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: is not known here", ev.Job.Short()))
		return
	}
	if j.counts[grid.Ended] < len(j.tasks) {
		j.cancelled = true
		n.saveJob(j, fx)
		for i := range j.tasks {
			if j.tasks[i].state != grid.Ended {
				n.end(now, j, uint32(i), &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}, fx)
			}
		}
	}
	fx.Reply(ev.Caller, ev.Job, "")
}

// end records a task's end, once, and lets go of whoever still holds an attempt of it.
func (n *Node) end(now grid.Time, j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := &j.tasks[i]
	if t.state == grid.Ended {
		panic("node: a task ends once")
	}
	held := t.state == grid.Offered || t.state == grid.Placed
	t.result, t.done = r, n.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.began = t.done - int64(r.Wall)
	}
	n.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.worker})
	n.setState(j, i, grid.Ended, fx)
	n.saveTask(j, i, fx)
	if t.live != nil {
		n.drop(t.live)
	}
	if r.Exit != 0 {
		j.failed++
		j.exit = max(j.exit, r.Exit)
	}
	switch {
	case !held:
	case t.worker == n.cfg.Self:
		n.forget(now, j.attempt(i), fx)
	case r.Cause == grid.Cancelled || r.Cause == grid.Lost:
		m := batch(fx, n.sent, t.worker, grid.KindDrop)
		m.Attempts = append(m.Attempts, j.attempt(i))
	default:
		m := fx.Send(t.worker, grid.KindResultAck)
		m.Attempts = append(m.Attempts, j.attempt(i))
	}
	if j.counts[grid.Ended] == len(j.tasks) {
		j.done = t.done
		n.keep(j, fx)
	}
}

// keep bounds the records of finished jobs: the oldest ends go first.
func (n *Node) keep(j *job, fx *grid.Effects) {
	n.kept = append(n.kept, j)
	n.keptSize += len(j.tasks)
	for n.keptSize > n.cfg.Keep && len(n.kept) > 1 {
		old := n.kept[0]
		n.kept = slices.Delete(n.kept, 0, 1)
		n.keptSize -= len(old.tasks)
		delete(n.jobs, old.id)
		for i := range old.tasks {
			rec := fx.Save(grid.RecTask)
			rec.Delete, rec.Task.ID = true, old.attempt(uint32(i))
		}
		rec := fx.Save(grid.RecJob)
		rec.Delete, rec.Job.ID = true, old.id
	}
}

func (n *Node) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	t := &j.tasks[i]
	j.counts[t.state]--
	j.counts[s]++
	t.state = s
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}

func (n *Node) trace(t *task, tr grid.Trace) {
	if len(t.traces) >= keepTraces {
		copy(t.traces[keepTraces/3:], t.traces[keepTraces/3+1:])
		t.traces = t.traces[:keepTraces-1]
	}
	t.traces = append(t.traces, tr)
}

func (n *Node) saveJob(j *job, fx *grid.Effects) {
	fx.Save(grid.RecJob).Job = grid.JobRecord{ID: j.id, Spec: j.spec, Submitted: j.submitted, Cancelled: j.cancelled}
}

func (n *Node) saveTask(j *job, i uint32, fx *grid.Effects) {
	t := &j.tasks[i]
	fx.Save(grid.RecTask).Task = grid.TaskRecord{ID: j.attempt(i), State: t.state, Worker: t.worker, Lost: t.lost,
		Result: t.result, Placed: t.placed, Began: t.began, Done: t.done}
}
