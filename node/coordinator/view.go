package coordinator

import (
	"fmt"
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/checkpoint"
	"skep/node/failures"
	"skep/node/progress"
	"skep/node/quota"
)

// JobView is a job as this node knows it. Times are wall time in Unix nanoseconds, 0 = not yet.
type JobView struct {
	ID           grid.JobID
	Spec         *grid.JobSpec
	Class        string
	Submitted    int64
	Done         int64 // when its last task ended
	Cancelled    bool  // and the cancellation is committed
	Pending      int   // tasks that wait for placement
	Placed       int   // tasks offered to or accepted by a worker
	Running      int   // of Placed, those that have started, as far as their workers have said
	Ended        int
	Members      []grid.NodeID // of its register, the origin first; nil = this node alone
	Owner        grid.NodeID   // as far as known here; zero if this node alone keeps it
	Epoch        uint32        // of the owner
	Since        int64         // when that owner took it, as far as known here
	InputsAtRisk string        // where its inputs are, if fewer than a majority of Members have them
	BadEnds
	Exit    int32  // highest exit code of the ended tasks
	Stopped string // why it was cancelled, if by its own rule
	Retried int    // recorded failures after which the task was run again, or is to be
	Held    bool   // nothing of it is placed, since it waits for other jobs
}

// TaskView is one task of a job.
type TaskView struct {
	ID                  grid.AttemptID
	State               grid.TaskState
	Worker              grid.NodeID // zero = none yet
	Lost                int32       // attempts lost
	Result              *grid.Result
	Placed, Began, Done int64
	Waits               grid.Refusal   // why it is pending, or why its end is not visible yet, if known
	Traces              []grid.Trace   // oldest first, bounded
	Backup              grid.NodeID    // worker of the backup attempt; zero = none
	Runs                bool           // it is placed and has started, as far as its worker has said
	Said                *grid.Progress // what it says of its progress while it runs; nil = nothing

	Failures   []grid.Failure // ends after which it was run again, or is to be: oldest first, the newest grid.MaxFailures
	LastFailed *grid.Result   // of the newest of them; nil if the task has ended
	Again      int64          // its next attempt is not made before; 0 = it has none, or one was made since
	Standing   progress.Standing
	Checkpoint checkpoint.View // of a gang, of its first rank
	Ranks      uint32          // of a gang: of the attempt; 0 = there is none yet
}

// Views are what a driver may ask about jobs: it changes nothing.
type Views struct{ c *Coordinator }

// Views returns the views of the jobs.
func (c *Coordinator) Views() Views { return Views{c} }

// Tally counts the jobs here, those that another node owns, and the tasks that wait for placement in the others.
func (c *Coordinator) Tally() (jobs, replicated, pending int) {
	for j := range c.jobs.All() {
		if !j.authoritative() {
			replicated++
			continue
		}
		pending += j.counts[grid.Pending]
	}
	return c.jobs.Len() + c.archive.Packed, replicated, pending
}

// Gauges are how many jobs and tasks are in which state now.
type Gauges struct {
	Open             int // jobs in memory, finished ones that are not packed among them
	Packed           int // finished jobs, packed
	Archived         int // tasks of finished jobs
	Live             int // tasks that are being placed or have an attempt
	InFlight         int // of Live, those that are polled for or offered
	Waiting          int // of Live, those that wait for a timer or for another node
	Retrying         int // of Live, those to be placed again
	AwaitingMajority int // jobs of which something waits for a majority of the register
	InGrace          int // jobs in their takeover grace
	Barriers         int // cancelled jobs of which something may still start
}

// Gauges returns the present gauges.
func (v Views) Gauges() Gauges {
	c := v.c
	return Gauges{Open: c.jobs.Len(), Packed: c.archive.Packed, Archived: c.archive.Tasks, Live: c.live.by.Len(),
		InFlight: c.live.inFlight, Waiting: len(c.live.waiting.list), Retrying: c.live.retries.Len(),
		AwaitingMajority: len(c.queue.awaitingMajority), InGrace: len(c.grace), Barriers: c.barriers.jobs.Len()}
}

// Charged is what the jobs and attempts stored here for other nodes count for.
func (v Views) Charged() quota.Amount { return v.c.quota.Kept() }

// Solved returns λ of the last allocation that the default policy has solved, 0 = none, and how many it has solved.
func (c *Coordinator) Solved() (lambda float64, solves uint64) {
	if solver, ok := c.policies.Default().(balance.Solver); ok {
		return solver.Lambda(), solver.Solves()
	}
	return 0, 0
}

// Jobs appends the jobs submitted to or owned by this node, oldest first.
func (v Views) Jobs(dst []JobView) []JobView {
	at := len(dst)
	for j := range v.c.jobs.All() {
		if j.replica.IsOwner() || v.c.isOrigin(j.id) {
			dst = append(dst, j.view())
		}
	}
	for i := range v.c.archive.All() {
		if f := v.c.archive.At(i); f.open == nil && !f.Hole() {
			dst = append(dst, v.c.unpack(f, false).view())
		}
	}
	slices.SortFunc(dst[at:], func(a, b JobView) int {
		if a.Submitted != b.Submitted {
			return int(max(-1, min(1, a.Submitted-b.Submitted)))
		}
		return a.ID.Compare(b.ID)
	})
	return dst
}

// Job returns a job submitted here, or of whose register this node is a member.
func (v Views) Job(id grid.JobID) (JobView, bool) {
	if j := v.c.peekJob(id); j != nil {
		return j.view(), true
	}
	return JobView{}, false
}

// Tasks appends the tasks of such a job, by index.
func (v Views) Tasks(id grid.JobID, dst []TaskView) []TaskView {
	if j := v.c.peekJob(id); j != nil {
		for i := range j.spec.Count {
			dst = append(dst, v.task(j, i))
		}
	}
	return dst
}

// Task returns one task of such a job.
func (v Views) Task(id grid.TaskID) (TaskView, bool) {
	if j := v.c.peekJob(id.Job); j != nil && id.Index < j.spec.Count {
		return v.task(j, id.Index), true
	}
	return TaskView{}, false
}

// Decisions returns what the placement decisions about the tasks of such a job, from one index to before another,
// weighed, oldest first: those that are still in the log.
func (v Views) Decisions(id grid.JobID, from, end uint32) []grid.Decision {
	return v.c.weighed.Of(id, from, end)
}

func (j *job) view() JobView {
	v := JobView{ID: j.id, Spec: j.spec, Class: j.class, Submitted: j.submitted, Done: j.done, Cancelled: j.cancelled,
		Pending: j.counts[grid.Pending], Placed: j.counts[grid.Offered] + j.counts[grid.Placed] + j.uncommitted,
		Running: j.running + j.uncommitted, Ended: j.counts[grid.Ended] - j.uncommitted, Exit: j.exit,
		Retried: j.replica.Retried(), Stopped: j.stopped(), Held: j.waitsWhole(),
		BadEnds: BadEnds{Failed: int(j.failed), Missed: int(j.missed)}}
	if rep := j.replica; !rep.Sole() {
		v.Members = rep.Members()
		v.Owner, v.Epoch, v.Since = rep.Owner()
		_, v.Cancelled = rep.Cancelled()
		if !rep.State().Done {
			v.InputsAtRisk = rep.files.InputsAtRisk()
		}
		if v.Ended < j.count() {
			v.Done = 0
		}
	}
	return v
}

func (j *job) taskView(i uint32) TaskView {
	t := j.at(i)
	v := TaskView{ID: j.attempt(i), State: t.state, Worker: t.worker, Lost: t.lost, Result: t.result.Result(),
		Placed: t.placed, Began: t.began, Done: t.done, Traces: t.history.List()}
	if t.uncommitted { // an uncommitted end is not visible
		v.State, v.Result, v.Done, v.Runs, v.Waits = grid.Placed, nil, 0, true, failures.Unrecorded(j.replica.Value(i))
	}
	if t.live != nil {
		v.Runs, v.Said, v.Standing = t.live.status.Runs(), t.live.status.Said(), t.live.status.Standing()
	}
	if t.live != nil && t.live.backup != nil {
		v.Backup = t.live.backup.worker
	}
	v.Failures, v.LastFailed, v.Again = j.failuresOf(i)
	if k := len(v.Traces); v.State == grid.Pending && k > 0 {
		v.Waits = v.Traces[k-1].Refusal
	}
	if j.spec.IsGang() && v.State == grid.Pending {
		v.Waits = j.rankWaits(i)
	}
	if v.State == grid.Pending && v.Waits.Why == grid.WhyNone {
		v.Waits.Why = j.whyUntried(i)
	}
	return v
}

// MayAct reports whether this node may decide about a job now: it holds its quorum lease, and the job is not closed.
func (v Views) MayAct(now grid.Time, id grid.JobID) bool {
	j := v.c.peekJob(id)
	return j != nil && j.leads() && v.c.mayAct(now, j)
}

// AwaitsMajority reports whether a job waits for a majority of its register: this node owns it without a quorum lease,
// or is a member whose owner has been silent for so long that a takeover is due.
func (v Views) AwaitsMajority(now grid.Time, id grid.JobID) bool {
	j := v.c.peekJob(id)
	if j == nil || j.replica.State().Done {
		return false
	}
	if j.replica.IsOwner() {
		return !v.c.mayAct(now, j)
	}
	return j.replica.TakeoverDue(now)
}

// Underreplicated says that fewer nodes than configured keep a job submitted here, though the grid is known to have
// more, or that members have no quota left for more of it; "" = neither, or the job is over.
func (v Views) Underreplicated(j *JobView) string {
	if o := v.c.peekJob(j.ID); o != nil && j.Ended < int(j.Spec.Count) {
		if why := o.fullMembers(); why != "" {
			return why
		}
	}
	have := max(1, len(j.Members))
	if !v.c.isOrigin(j.ID) || have >= v.c.cfg.Members || j.Ended == int(j.Spec.Count) ||
		max(v.c.cfg.Known, len(v.c.gossip.Peers())) < v.c.cfg.Members-1 {
		return ""
	}
	if have == 1 {
		return fmt.Sprintf("this node alone keeps the job, where %d should: too few others were connected%s; it is lost "+
			"if this node is", v.c.cfg.Members, v.c.accessReason(j.Spec))
	}
	return fmt.Sprintf("%d nodes keep the job, where %d should: too few others answered%s", have, v.c.cfg.Members,
		v.c.accessReason(j.Spec))
}
