package coordinator

import (
	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/retention"
	"skep/node/coordinator/view"
	"skep/node/failures"
	"skep/node/quota"
)

// JobView and TaskView are a job and a task as this node knows them.
type (
	JobView  = view.Job
	TaskView = view.Task
)

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
		pending += j.tasks.In(grid.Pending)
	}
	return c.jobs.Len() + c.archive.Packed, replicated, pending
}

// Gauges returns the present gauges.
func (v Views) Gauges() view.Gauges {
	c := v.c
	return view.Gauges{Open: c.jobs.Len(), Packed: c.archive.Packed, Archived: c.archive.Tasks, Live: c.live.Len(),
		InFlight: c.live.InFlight(), Waiting: len(c.live.Waiting()), Retrying: c.live.Retrying(),
		AwaitingMajority: len(c.queue.awaitingMajority), InGrace: len(c.grace), Barriers: c.barriers.Len()}
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
		if f := v.c.archive.At(i); f.Packed() && !f.Hole() {
			dst = append(dst, v.c.unpack(f, false).view())
		}
	}
	view.Sort(dst[at:])
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

// logPrices records for what prices a worker has refused a task, for explanations.
func (c *Coordinator) logPrices(now grid.Time, l *liveTask, from grid.NodeID, m *grid.Message) {
	if !c.weighed.Keeps() || m.Prices == nil || m.Refusal.Why != grid.WhyWorth {
		return
	}
	c.weighed.Add(&grid.Decision{Task: l.id().Task, At: now, Why: grid.VerdictPriced, Prices: m.Prices,
		Nodes: []grid.Considered{{Node: from, Option: l.task().Option,
			Options: c.peers.OptionPrices(now, from, l.job.spec, l.level())}}})
}

func (j *job) view() JobView {
	v := JobView{ID: j.id, Spec: j.spec, Class: j.class, Submitted: j.submitted, Done: j.done, Cancelled: j.cancelled,
		Pending: j.tasks.In(grid.Pending), Placed: j.tasks.Out() + j.tasks.Uncommitted(),
		Running: j.live.Running() + j.tasks.Uncommitted(), Ended: j.tasks.Over(), Exit: j.Exit,
		Retried: j.replica.Retried(), Stopped: j.cancellation().Stopped(), Held: j.waitsWhole(),
		BadEnds: view.BadEnds{Failed: int(j.Failed), Missed: int(j.Missed), Unaffordable: int(j.Unaffordable)}}
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
	v := TaskView{ID: j.attempt(i), State: t.State(), Worker: t.Worker, Lost: t.Lost, Result: t.Result.Result(),
		Placed: t.Placed, Began: t.Began, Done: t.Done, Traces: t.History.List()}
	if t.Uncommitted() { // an uncommitted end is not visible
		v.State, v.Result, v.Done, v.Runs, v.Waits = grid.Placed, nil, 0, true, failures.Unrecorded(j.replica.Value(i))
	}
	if v.State != grid.Pending {
		v.Option = t.Option
	}
	if r := v.Result; r != nil && j.spec.Needs.Option(r.Option) != nil {
		v.Option = r.Option
	}
	if t.Live != nil {
		v.Runs, v.Said, v.Standing = t.Live.Status().Runs(), t.Live.Status().Said(), t.Live.Status().Standing()
	}
	if t.Live != nil && t.Live.backup != nil {
		v.Backup = t.Live.backup.worker
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
	return view.Underreplicated(have, v.c.cfg.Members, v.c.accessReason(j.Spec))
}

// WaitingCount returns the number of tasks that wait for a timer, or for a change of the nodes known.
func (c *Coordinator) WaitingCount() int { return len(c.live.Waiting()) }

// QuotaLeft is the remaining quota in a keepalive's answer: 0 = a job of any size is stored; else the most tasks that a
// job may have, plus one.
func (c *Coordinator) QuotaLeft(id grid.NodeID) uint32 { return c.quota.LargestJob(id) }

// task returns the view of a task with its checkpoints.
func (v Views) task(j *job, i uint32) TaskView {
	t := j.taskView(i)
	if j.spec.IsGang() && t.ID.Attempt != (grid.Attempt{}) {
		t.Ranks = j.spec.Gang.RanksOf(t.ID.Attempt)
	}
	if t.State != grid.Ended && (i == 0 || !j.spec.IsGang()) {
		t.Checkpoint = v.c.checkpoints.View(j.spec, t.ID.Task)
	}
	return t
}

// Gone says why a job that is not known here is not kept any more; "" = nothing is known of that.
func (v Views) Gone(id grid.JobID) string {
	if v.c.peekJob(id) != nil {
		return ""
	}
	_, why := v.GoneAs(func(x grid.JobID, _ string) bool { return x == id })
	if why == "" && v.c.replicas.Buried(id) {
		return "it is over, and this node does not keep it any more"
	}
	return why
}

// GoneAs returns the newest of the jobs that have gone in this run whose ID or name fits, and why; "" = there is none.
func (v Views) GoneAs(fits func(id grid.JobID, name string) bool) (grid.JobID, string) {
	id, why := v.c.kept.Gone.Find(fits)
	return id, why.Text(&v.c.cfg.Retention.Bounds, v.c.cfg.Keep)
}

// Retained counts the jobs here that are over.
func (v Views) Retained() retention.Counts {
	n := v.c.kept.Counts()
	n.Jobs = v.c.archive.Len()
	return n
}
