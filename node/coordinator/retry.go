package coordinator

import (
	"fmt"
	"slices"

	"skep/grid"
	"skep/internal/indices"
	"skep/node/coordinator/bulk"
	"skep/node/coordinator/callers"
	"skep/node/coordinator/cancellation"
	"skep/node/failures"
	"skep/node/quota"
)

// Tasks that a caller has run again after they have ended. The retry is an entry of the register, which succeeds the
// task's final one and is open (package failures): once it is committed the task goes on like one whose failure is
// retried by a rule. A job that is over is opened for that:
//
//	closed ── the owner, or a member that wins a campaign ──► open, nothing to do ── retries are proposed ──► goes on
//
// No attempt of an owner before the one that decides the retry counts any more, whoever reports it.

// CallerAsks takes what a local caller wants done about a job that was submitted.
func (c *Coordinator) CallerAsks(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if ev.Kind == grid.EvRetry {
		c.retryEnded(now, ev, fx)
		return
	}
	c.cancel(now, ev, fx)
}

// retryEnded has tasks that have ended run again.
func (c *Coordinator) retryEnded(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := c.job(ev.Job)
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, unknownHere(ev.Job))
		return
	}
	if why := c.refusesRetry(now, j, ev.Tasks); why != "" {
		fx.Reply(ev.Caller, j.id, fmt.Sprintf("job %s: %s", j.id.Short(), why))
		return
	}
	if !j.replica.State().Done && !j.replica.IsOwner() {
		fx.Reply(ev.Caller, j.id, j.ownedElsewhere())
		return
	}
	c.restoreRegister(j)
	j.replica.Reopen(now, fx)
	c.followRegisters(now, fx)
	if !j.replica.IsOwner() {
		j.replica.callers.Retry(callers.Retry{Caller: ev.Caller, Tasks: ev.Tasks})
		j.replica.Campaign(now, c.reachMembers(now, j, fx), fx)
		return
	}
	c.retryTasks(now, j, ev.Caller, ev.Tasks, fx)
}

// retryPending decides the retries that waited until this node owns the job.
func (c *Coordinator) retryPending(now grid.Time, j *job, fx *grid.Effects) {
	for _, x := range j.replica.callers.Owned() {
		if why := c.refusesRetry(now, j, x.Tasks); why != "" {
			fx.Reply(x.Caller, j.id, fmt.Sprintf("job %s: %s", j.id.Short(), why))
			continue
		}
		c.retryTasks(now, j, x.Caller, x.Tasks, fx)
	}
}

// refusesRetry says why tasks of a job may not be run again; "" = they may.
func (c *Coordinator) refusesRetry(now grid.Time, j *job, tasks indices.Set) string {
	if why := c.neverAgain(now, j); why != "" {
		return why
	}
	written, recorded := j.replica.Cancelled()
	beingCancelled := j.cancelled && (j.tasks.Over() < j.count() || j.barrier != nil || written && !recorded)
	if why := j.cancellation().RefusesRetry(tasks, beingCancelled); why != "" {
		return why
	}
	switch {
	case !c.isOrigin(j.id) && tasks.Len() > bulk.Batch:
		return fmt.Sprintf("%d tasks: a node other than the job's own takes at most %d at a time", tasks.Len(), bulk.Batch)
	case !j.replica.Sole() && !j.replica.files.HasInputs() && len(j.spec.Inputs) > 0:
		return "its inputs are gone from this node: ask at another one that keeps it, or submit it again"
	}
	if why := c.admitEnds(j, tasks.Len()); why != "" {
		return "its owner has no room to record that its tasks are run again: " + why
	}
	for _, id := range j.replica.Members() {
		if id != c.cfg.Self && !c.peers.MayReopen(id) {
			return fmt.Sprintf("node %s keeps it, and is of a version that knows no retries: bring it up to date",
				c.peers.Name(id))
		}
	}
	return ""
}

// retryTasks writes, as the owner of a job that is open, that tasks are run again, and that the job is not cancelled
// any more if it was.
func (c *Coordinator) retryTasks(now grid.Time, j *job, caller uint64, tasks indices.Set, fx *grid.Effects) {
	rep, epoch := j.replica, j.replica.State().Epoch
	x := callers.Change{Caller: caller}
	if v, _ := rep.Value(j.spec.Count); v != nil && !v.Open() {
		e := failures.Retry(v, epoch)
		e.Result = cancellation.ByCaller
		rep.Propose(e)
		j.cancelled = false
		c.saveEntry(j, j.spec.Count, fx)
		if !rep.Sole() {
			x.Await(j.spec.Count)
		}
	}
	c.tallyLater(j)
	for k := range tasks.Len() {
		i := tasks.At(k)
		v, _ := rep.Value(i)
		t := j.tasks.At(i)
		t.Lost, t.History = 0, nil
		if c.proposeEnd(now, j, failures.Retry(v, epoch), fx); t.Uncommitted() {
			x.Await(i)
		}
	}
	c.peers.Arrive(now, j.level, j.spec, tasks.Len())
	if x.Committed() {
		fx.Reply(caller, j.id, "")
		return
	}
	rep.callers.Change(x)
}

// closedReplica returns the replica that all unpacked jobs share: each is closed, and this node alone has it.
func (c *Coordinator) closedReplica() *replica {
	if c.packedReplica == nil {
		r := c.replicas.Closed()
		c.packedReplica = &replica{Register: r, membersVerified: true, files: c.deposits.NewFiles(new(grid.JobSpec), r)}
	}
	return c.packedReplica
}

// restoreRegister gives a job that was packed a register of its own again.
func (c *Coordinator) restoreRegister(j *job) {
	if j.replica != c.packedReplica {
		return
	}
	s := j.replica.State()
	r := c.replicas.Add(j.id, j.spec, j.submitted, []grid.NodeID{c.cfg.Self}, s)
	j.replica = &replica{Register: r, membersVerified: true, files: c.deposits.NewFiles(j.spec, r)}
	for i, t := range j.tasks.Known() {
		r.Restore(&grid.Entry{Index: i, Epoch: s.Epoch, Attempt: t.Attempt, Worker: t.Worker, Lost: t.Lost,
			Result: t.Result.Result(), Placed: t.Placed, Began: t.Began, Done: t.Done}, true)
	}
	if j.cancelled {
		r.Restore(&grid.Entry{Index: j.spec.Count, Epoch: s.Epoch, Done: j.done}, true)
	}
}

// jobReopened has a job that was over go on: it is archived no more.
func (c *Coordinator) jobReopened(now grid.Time, j *job, fx *grid.Effects) {
	if at := c.archive.Find(j.id); at >= 0 {
		c.archive.Remove(c.cfg.Self, at)
	}
	j.replica.endedTasks, j.replica.closing = 0, false
	c.quota.Reopen(j.id, j.count())
	c.deposits.Reopened(&j.replica.files)
	c.kept.Of(j.id).Reopen(j.kept, j.spec)
	c.watchDeadline(now, j, fx)
	c.scheduleTick(now, fx)
}

// endsAreFinal reports whether no task of the job has gone on after an end that is in the register.
func (j *job) endsAreFinal() bool { return j.spec.Rules.None() && j.replica.State().Opened == 0 }

// mayGoOn reports whether a task that may run at most once may go on although no worker reports an attempt of it: this
// node, as the owner that it is now, has recorded the end or the retry that another attempt follows.
func (j *job) mayGoOn(i uint32) bool { return j.openEntry(i) != nil && j.replica.DecidedNow(i) }

// admitReopening says why a closed job must not be opened by another member's message; "" = it may.
func (c *Coordinator) admitReopening(j *job, g *grid.RegisterMessage) string {
	if s := j.replica.State(); !s.Done || g.Opened <= s.Opened || g.Epoch == 0 {
		return ""
	}
	why := failures.Refuses(j.spec) // no honest member opens a job that it refuses
	if who, known := c.quota.Of(j.id); known && why == "" {
		return c.quota.Admit(who, quota.Amount{Registers: 1, Tasks: j.count()})
	}
	return why
}

// tallyLater counts the failures of a job anew at the end of the step: ends that were counted do not count any more.
func (c *Coordinator) tallyLater(j *job) {
	if !slices.Contains(c.tallies, j) {
		c.tallies = append(c.tallies, j)
	}
}

// tallyAgain counts the committed ends of the jobs of which some do not count any more.
func (c *Coordinator) tallyAgain() {
	for _, j := range c.tallies {
		j.Ends, j.done = j.tasks.Tally()
	}
	c.tallies = c.tallies[:0]
}

// publishEnd makes a task's end visible.
func (c *Coordinator) publishEnd(j *job, i uint32, fx *grid.Effects) {
	t := j.tasks.At(i)
	j.tasks.Commit(i)
	j.done = max(j.done, t.Done)
	if j.Ends.Count(&t.Result); t.Result.Exit != 0 {
		c.countFailure(j)
	}
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}
