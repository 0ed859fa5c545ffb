package node

import (
	"errors"
	"fmt"

	"skep/grid"
	"skep/sparse"
)

// job is a job submitted here or replicated here. Its tasks are a dense list; the state needed only while a task is
// placed or runs is in its liveTask.
type job struct {
	id               grid.JobID
	cancelled        bool
	nextFresh        uint32    // tasks below it were tried at least once
	batchPoll        *liveTask // polls for the other untried tasks too, under a batch policy
	failed           int32
	exit             int32
	spec             *grid.JobSpec
	class            string
	submitted        int64
	arrived          grid.Time // submission time on this boot's clock; may be negative
	done             int64
	tasks            sparse.List[task] // only tasks with recorded state; see task
	counts           [grid.Ended + 1]int
	barrier          *cancelBarrier // the job is cancelled, and something of it may still start; nil = no
	quietAt          grid.Time      // attempts that were given up may start until then
	replica          *replica
	uncommitted      int       // tasks that ended without being committed yet
	turn             uint64    // position in the job queue
	queueIndex       int       // in the job queue, from 1; 0 = not queued
	setAside         bool      // taken out of the queue until something can be done
	awaitingMajority bool      // in Node.awaitingMajority
	backupFrom       uint32    // tasks below it have ended; the scan for backup attempts starts here
	unproven         int32     // tasks that wait for a node on probation to deliver; further ones are not tried
	noSearchBefore   grid.Time // no known node fits, and no search is repeated until then
}

func (j *job) Key() grid.JobID { return j.id }

// submit accepts a job. The caller is answered once the record is on disk. A submission of a known job gets the same
// answer again.
func (n *Node) submit(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if j := n.job(ev.Job); j != nil {
		if !j.confirmed() {
			if len(j.replica.submitters) == 0 {
				j.replica.confirmBy = now.Add(n.cfg.Confirm)
			}
			j.replica.submitters = append(j.replica.submitters, ev.Caller)
			return
		}
		fx.Reply(ev.Caller, ev.Job, "")
		return
	}
	err := ev.Spec.Check()
	if err == nil && n.replicas.Buried(ev.Job) {
		err = fmt.Errorf("job %s: was submitted before and is over, and its outcome is not kept any more", ev.Job.Short())
	}
	if err == nil && ev.Job.Origin != n.cfg.Self {
		err = fmt.Errorf("job %s: belongs to another node", ev.Job.Short())
	}
	if err == nil {
		_, err = n.policy(ev.Spec.Policy)
	}
	if err == nil && n.worker.Exec().Draining() && !n.worker.Leaving() {
		err = errors.New("this node is draining and takes nothing new: submit to another one, or let it take work again with skep node drain --self --undo")
	}
	if err != nil {
		fx.Reply(ev.Caller, ev.Job, err.Error())
		return
	}
	n.beginSubmission(now, ev, fx)
}

func (n *Node) newJob(id grid.JobID, spec *grid.JobSpec, submitted int64) *job {
	j := &job{id: id, spec: spec, class: grid.ClassOf(spec), submitted: submitted, tasks: sparse.Make[task](spec.Count)}
	j.counts[grid.Pending] = j.count()
	n.jobs.Put(j)
	return j
}

// cancelJob ends every task of a job that has not ended. Workers that still have attempts are told to drop them,
// again at each beat. The caller is answered once nothing of the job can start anywhere: see cancelBarrier.
func (n *Node) cancelJob(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := n.job(ev.Job)
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: is not known here", ev.Job.Short()))
		return
	}
	n.cancel(now, ev, j, fx)
}

// endAll ends all unended tasks of a job as cancelled.
func (n *Node) endAll(now grid.Time, j *job, fx *grid.Effects) {
	for i := range j.spec.Count {
		if j.state(i) != grid.Ended {
			n.end(now, j, i, cancelledResult, fx)
		}
	}
}

// end records a task's end, once, and releases the workers of its attempts.
func (n *Node) end(now grid.Time, j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	if t.state == grid.Ended {
		panic("node: a task ends once")
	}
	t.heldByWorker = t.state == grid.Offered || t.state == grid.Placed
	t.result, t.done = r.Brief(), n.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.began = t.done - int64(r.Wall)
	}
	n.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.worker})
	n.setState(j, i, grid.Ended, fx)
	n.backups.due = true
	if l := t.live; l != nil {
		if l.backup != nil {
			n.dropAttempt(now, l, l.backup.worker, l.backupID(), fx)
		}
		n.dropLive(l)
	}
	n.proposeEnd(j, i, r, fx)
}

// releaseWorker tells the worker of an ended task's last attempt to forget it.
func (n *Node) releaseWorker(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	r := &t.result
	switch {
	case !t.heldByWorker:
	case r.Cause == grid.Cancelled || r.Cause == grid.Lost:
		m := fx.About(t.worker, grid.KindDrop)
		m.Attempts = append(m.Attempts, j.attempt(i))
	default:
		m := fx.Send(t.worker, grid.KindResultAck)
		m.Attempts = append(m.Attempts, j.attempt(i))
	}
	t.heldByWorker = false
}

// archiveAndTrim archives a finished job and deletes the oldest ones beyond Config.Keep tasks.
func (n *Node) archiveAndTrim(j *job, fx *grid.Effects) {
	n.archiveJob(j)
	for n.archive.tasks > n.cfg.Keep && n.archive.len() > 1 {
		first := n.archive.shift(n.cfg.Self)
		old := n.unpack(&first, true)
		n.buryJob(old, fx)
	}
}

func (n *Node) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	t := j.task(i)
	j.counts[t.state]--
	j.counts[s]++
	t.state = s
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}
