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

// submit reports whether a submission is a valid job that is new here; its members are to be chosen. Else the caller is
// answered: a submission of a known job gets the same answer again, once the record is on disk.
func (c *coordinator) submit(now grid.Time, ev *grid.Event, fx *grid.Effects) (fresh bool) {
	if j := c.job(ev.Job); j != nil {
		if !j.confirmed() {
			if len(j.replica.submitters) == 0 {
				j.replica.confirmBy = now.Add(c.cfg.Confirm)
			}
			j.replica.submitters = append(j.replica.submitters, ev.Caller)
			return false
		}
		fx.Reply(ev.Caller, ev.Job, "")
		return false
	}
	err := ev.Spec.Check()
	if err == nil && c.replicas.Buried(ev.Job) {
		err = fmt.Errorf("job %s: was submitted before and is over, and its outcome is not kept any more", ev.Job.Short())
	}
	if err == nil && ev.Job.Origin != c.cfg.Self {
		err = fmt.Errorf("job %s: belongs to another node", ev.Job.Short())
	}
	if err == nil {
		_, err = c.policy(ev.Spec.Policy)
	}
	if err == nil && c.worker.Exec().Draining() && !c.worker.Leaving() {
		err = errors.New("this node is draining and takes nothing new: submit to another one, or let it take work again with skep node drain --self --undo")
	}
	if err != nil {
		fx.Reply(ev.Caller, ev.Job, err.Error())
	}
	return err == nil
}

// create creates a job whose register this node and others keep. The callers are answered when a majority has it, or at
// confirmBy.
func (c *coordinator) create(now grid.Time, id grid.JobID, spec *grid.JobSpec, others []grid.NodeID, callers []uint64,
	confirmBy grid.Time, fx *grid.Effects) {
	members := append([]grid.NodeID{c.cfg.Self}, others...)
	j := c.newReplica(id, spec, c.wall.At(now).UnixNano(), members, grid.RegisterState{})
	r := j.replica
	r.submitters, r.confirmBy, r.provisional = callers, confirmBy, !r.Sole()
	r.Own()
	c.queueNewJob(now, j, fx)
	if !r.Sole() {
		c.deposits.ReplicateInputs(now, &r.files)
	}
	r.Save(fx)
	if r.Sole() {
		c.replyAll(&r.submitters, j.id, fx)
	}
	c.scheduleTick(now, fx)
}

// queueNewJob queues a new job's tasks for placement.
func (c *coordinator) queueNewJob(now grid.Time, j *job, fx *grid.Effects) {
	j.arrived = now
	c.enqueueJob(j)
	c.rates.Arrive(now, j.class, j.spec, int(j.spec.Count))
}

func (c *coordinator) newJob(id grid.JobID, spec *grid.JobSpec, submitted int64) *job {
	j := &job{id: id, spec: spec, class: grid.ClassOf(spec), submitted: submitted, tasks: sparse.Make[task](spec.Count)}
	j.counts[grid.Pending] = j.count()
	c.jobs.Put(j)
	return j
}

// cancelJob ends every task of a job that has not ended. Workers that still have attempts are told to drop them,
// again at each beat. The caller is answered once nothing of the job can start anywhere: see cancelBarrier.
func (c *coordinator) cancelJob(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := c.job(ev.Job)
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: is not known here", ev.Job.Short()))
		return
	}
	c.cancel(now, ev, j, fx)
}

// endAll ends all unended tasks of a job as cancelled.
func (c *coordinator) endAll(now grid.Time, j *job, fx *grid.Effects) {
	for i := range j.spec.Count {
		if j.state(i) != grid.Ended {
			c.end(now, j, i, cancelledResult, fx)
		}
	}
}

// end records a task's end, once, and releases the workers of its attempts.
func (c *coordinator) end(now grid.Time, j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	if t.state == grid.Ended {
		panic("node: a task ends once")
	}
	t.heldByWorker = t.state == grid.Offered || t.state == grid.Placed
	t.result, t.done = r.Brief(), c.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.began = t.done - int64(r.Wall)
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.worker})
	c.setState(j, i, grid.Ended, fx)
	c.backups.due = true
	if l := t.live; l != nil {
		if l.backup != nil {
			c.dropAttempt(now, l, l.backup.worker, l.backupID(), fx)
		}
		c.dropLive(l)
	}
	c.proposeEnd(j, i, r, fx)
}

// releaseWorker tells the worker of an ended task's last attempt to forget it.
func (c *coordinator) releaseWorker(j *job, i uint32, fx *grid.Effects) {
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
func (c *coordinator) archiveAndTrim(j *job, fx *grid.Effects) {
	c.archiveJob(j)
	for c.archive.tasks > c.cfg.Keep && c.archive.len() > 1 {
		first := c.archive.shift(c.cfg.Self)
		old := c.unpack(&first, true)
		c.buryJob(old, fx)
	}
}

func (c *coordinator) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	t := j.task(i)
	j.counts[t.state]--
	j.counts[s]++
	t.state = s
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}
