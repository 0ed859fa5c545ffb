package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/coordinator/tasks"
	"skep/node/coordinator/view"
)

// confirmed reports whether a submission is known to be durable: this node alone keeps the job, or a majority holds it
// and its inputs are deposited or not waited for. An epoch above 1 has an owner only if a majority voted for it, and a
// voter holds the job.
func (j *job) confirmed() bool {
	rep := j.replica
	if rep.State().Done || rep.Ready() && rep.files.InputsSettled() {
		return true
	}
	_, epoch, _ := rep.Owner()
	return !rep.IsOwner() && epoch > 1
}

// confirmSubmission answers the submitters once a majority has the job and its inputs, or the inputs are no longer
// waited for.
func (c *Coordinator) confirmSubmission(now grid.Time, j *job, fx *grid.Effects) {
	if rep := j.replica; rep.Ready() && rep.files.SettleInputs(now) {
		c.replyAll(&rep.submitters, j.id, fx)
	}
}

// answerUnconfirmed answers the callers that have waited Config.Confirm for a majority: the job is here and may yet
// run.
func (c *Coordinator) answerUnconfirmed(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	// a ready register waits only for its inputs, which end by themselves
	if len(rep.submitters) == 0 || now < rep.confirmBy || rep.Ready() {
		return
	}
	for _, x := range rep.submitters {
		fx.Reply(x, j.id, view.Unconfirmed(j.id, len(rep.Members()), c.cfg.Confirm, j.fullMembers()))
	}
	rep.submitters = nil
}

// fullMembers names the members that refused the job's last write for lack of quota; "" if none. The write is
// repeated every third of a lease.
func (j *job) fullMembers() string {
	if !j.replica.IsOwner() {
		return ""
	}
	var full []grid.NodeID
	for place, id := range j.replica.Members() {
		if j.replica.Full(place) {
			full = append(full, id)
		}
	}
	return view.FullMembers(full)
}

func (c *Coordinator) replyAll(callers *[]uint64, id grid.JobID, fx *grid.Effects) {
	for _, x := range *callers {
		fx.Reply(x, id, "")
	}
	*callers = nil
}

// Planned offers. While the register of a new job waits for its first majority, its first task is already placed:
// polling and the attempt's record overlap with the members' writes. Only the offer, or the start, waits for the
// majority.

// isProvisional reports whether a job submitted here awaits its first majority and its first task may be placed
// meanwhile. Not a job without retries: a crash before the offer would end the task as lost. Not under a batch policy.
func (c *Coordinator) isProvisional(j *job) bool {
	if !j.replica.provisional || !j.replica.IsOwner() || j.spec.Retries == 0 || len(j.spec.After.Jobs) > 0 ||
		j.spec.IsGang() {
		return false
	}
	_, batch := c.policyOf(j).(balance.Batch)
	return !batch
}

// mayPlan reports whether a job's first task may be placed before a majority has the job.
func (c *Coordinator) mayPlan(j *job) bool {
	return j.nextFresh == 0 && j.tasks.State(0) == grid.Pending && j.at(0).Live == nil && c.isProvisional(j)
}

// planOffer holds a made attempt back until a majority of the register has answered.
func (c *Coordinator) planOffer(now grid.Time, l *liveTask, ect float64, fx *grid.Effects) {
	l.planned, l.ect = true, ect
	c.parkFor(now, l, c.cfg.Lease/3, live.ForMajority, fx)
}

// keepPlanned keeps a planned attempt back for longer. It is no longer among its worker's outstanding ones: a worker is
// not late with what it was never offered.
func (c *Coordinator) keepPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.attemptReturned(now, &l.expectation, l.task().Worker, false)
	c.waitForMajority(now, l, fx)
}

// sendPlanned offers a planned attempt. If the worker has gone meanwhile, or has as many attempts as it may have, it
// never heard of this one: that is a refusal.
func (c *Coordinator) sendPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.planned = false
	worker := l.task().Worker
	c.attemptReturned(now, &l.expectation, worker, false) // its expected time begins now
	switch {
	case !c.peers.Connected(worker):
		c.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyGone}, fx)
		return
	case c.peers.OnProbation(now, worker):
		c.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
		return
	}
	l.task().Placed, l.expectation.Made = c.wall.At(now).UnixNano(), now
	c.peers.Start(now, &l.expectation)
	c.peers.Given(now, &l.expectation, l.level(), worker, l.ect)
	c.sendFirstOffer(now, l, fx)
}

// accessReason explains which further candidates were not eligible as members; "" if none were.
func (c *Coordinator) accessReason(spec *grid.JobSpec) string {
	features := spec.MemberFeatures()
	if features == 0 || len(c.peers.Candidates(features)) == len(c.peers.Candidates(0)) {
		return ""
	}
	return view.OlderVersions(spec)
}

// Submit reports whether a submission is a valid job that is new here; its members are to be chosen. Else the caller is
// answered: a submission of a known job gets the same answer again, once the record is on disk.
func (c *Coordinator) Submit(now grid.Time, ev *grid.Event, fx *grid.Effects) (fresh bool) {
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
	if err == nil && slices.ContainsFunc(ev.Spec.After.Jobs, func(d grid.Dependency) bool { return d.Job == ev.Job }) {
		err = fmt.Errorf("job %s: is to follow itself: want another job", ev.Job.Short())
	}
	if err == nil && !c.isOrigin(ev.Job) {
		err = fmt.Errorf("job %s: belongs to another node", ev.Job.Short())
	}
	if most := c.cfg.Order.MaxBid; err == nil && most > 0 && ev.Spec.Bid() > most {
		err = fmt.Errorf("priority %v: want at most %v, the max_bid of this node", ev.Spec.Bid(), most)
	}
	if err == nil {
		_, err = c.policy(ev.Spec.Policy)
	}
	if err == nil {
		if why := c.impossible(now, ev.Spec); why != "" {
			err = errors.New(why)
		}
	}
	if err == nil && c.worker.Exec().Draining() && !c.worker.Leaving() {
		err = errors.New("this node is draining and takes nothing new: submit to another one, or let it take work again " +
			"with skep node drain --self --undo")
	}
	if err != nil {
		fx.Reply(ev.Caller, ev.Job, err.Error())
	}
	return err == nil
}

// Create creates a job whose members are chosen: this node, and others if there are any. The callers are answered when
// a majority has it, or at confirmBy.
func (c *Coordinator) Create(now grid.Time, id grid.JobID, spec *grid.JobSpec, others []grid.NodeID, callers []uint64,
	confirmBy grid.Time, fx *grid.Effects) {
	members := append([]grid.NodeID{c.cfg.Self}, others...)
	j := c.newReplica(id, spec, c.wall.At(now).UnixNano(), members, grid.RegisterState{})
	r := j.replica
	r.submitters, r.confirmBy, r.provisional = callers, confirmBy, !r.Sole()
	r.Own(now)
	r.membersVerified = true
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

func (c *Coordinator) newJob(id grid.JobID, spec *grid.JobSpec, submitted int64) *job {
	j := &job{id: id, spec: spec, class: grid.ClassOf(spec), submitted: submitted,
		tasks: tasks.Make[*liveTask](spec.Count)}
	j.level = cmp.Or(grid.LevelOf(spec), j.class)
	j.kept = c.kept.Of(id).Open(id, spec)
	c.jobs.Put(j)
	return j
}

// queueNewJob queues a new job's tasks for placement.
func (c *Coordinator) queueNewJob(now grid.Time, j *job, fx *grid.Effects) {
	j.arrived = now
	c.enqueueJob(j)
	c.watchDeadline(now, j, fx)
	c.peers.Arrive(now, j.level, j.spec, int(j.spec.Count))
}

// currentKnown answers a caller who waits to hear whether the ends that are known here are current.
func (c *Coordinator) currentKnown(now grid.Time, j *job, x grid.RegisterChange, fx *grid.Effects) {
	why := "tasks of it were run again meanwhile: ask again at its owner, which job describe names"
	switch x.Kind {
	case grid.RegisterCurrent:
		c.awaitBarrier(now, j, x.Caller, fx)
		return
	case grid.RegisterUncertain:
		why = "it is over as far as is known here, but no majority of its members answers: ask again when they are connected"
	}
	fx.Reply(x.Caller, j.id, fmt.Sprintf("job %s: %s", j.id.Short(), why))
}

func unknownHere(id grid.JobID) string { return fmt.Sprintf("job %s: is not known here", id.Short()) }

// PeerUp goes on with what waits for a peer that has connected: it has told whether it knows of more than this node's
// data folder, and may have attempts.
func (c *Coordinator) PeerUp(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	c.settle(now, c.replicas.HasTold(now, id, fx), fx)
	c.AskAttempts(now, id, fx)
}

// settle goes on with the jobs that this node alone keeps, once peers had time to tell.
func (c *Coordinator) settle(now grid.Time, over bool, fx *grid.Effects) {
	if over {
		c.ResumeJobs(now, fx)
	}
}
