package coordinator

import (
	"iter"
	"slices"
	"time"

	"skep/grid"
	"skep/node/checkpoint"
	"skep/node/contract"
	"skep/node/coordinator/live"
	"skep/node/dependency"
	"skep/node/gangs"
)

// Checkpoints of tasks and gangs (package checkpoint): what is asked of their jobs.

// inputsLeft returns the files that an attempt gets beside the inputs of its job: what other jobs have left, and the
// checkpoint that it begins from. A backup attempt begins at the start, also once it is the only one and offered again.
func (c *Coordinator) inputsLeft(l *liveTask) []grid.File {
	left := dependency.Inputs(l.job.spec, l.job.replica, l.index)
	if t := l.task(); t.Attempt == t.Backup {
		return left
	}
	if from := c.checkpoints.Inputs(l.job.spec, l.id()); len(from) > 0 {
		return slices.Concat(left, from)
	}
	return left
}

// checkpointFailed takes that a worker could not prepare or execute an attempt: it may be for the checkpoint that it
// was to begin from.
func (c *Coordinator) checkpointFailed(l *liveTask, from grid.NodeID, r *grid.Result, fx *grid.Effects) {
	if r.Cause == grid.Failed {
		c.checkpoints.Failed(l.job.spec, l.id(), from, r.Error, l.job.members(), fx)
	}
}

// Checkpointed returns what is known of a job with checkpoints; without a Spec it is not here, or over.
func (c *Coordinator) Checkpointed(id grid.JobID) (x checkpoint.Job) {
	if j := c.jobs.Get(id); j != nil && !j.replica.State().Done && !j.cancelled {
		x = checkpoint.Job{Spec: j.spec, Members: j.members(), Owner: j.ownerKnown(), Leads: j.leads(),
			Since: j.replica.fullHistoryFrom}
	}
	return x
}

// Runs reports whether an attempt is the current one of its task, which this node, as the owner, has given to a worker.
func (c *Coordinator) Runs(from grid.NodeID, id grid.AttemptID) bool {
	l := c.currentAttempt(from, id)
	return l != nil && l.Phase() == live.Placed && l.result == nil
}

// Newest returns the newest attempt of a task, or of any rank of its gang, that this node has made or knows of.
func (c *Coordinator) Newest(id grid.TaskID) (a grid.Attempt) {
	if j := c.jobs.Get(id.Job); j != nil {
		for i := range j.unit(id.Index) {
			if x := j.at(i).Attempt; a.Less(x) {
				a = x
			}
		}
	}
	return a
}

// Over reports whether a task is never run again: its end is final and committed, or that of a rank of its gang.
func (c *Coordinator) Over(id grid.TaskID) bool {
	j := c.jobs.Get(id.Job)
	if j == nil || id.Index >= j.spec.Count {
		return true
	}
	for i := range j.unit(id.Index) {
		if v, committed := j.replica.Value(i); v != nil && committed && !v.Open() {
			return true
		}
	}
	return false
}

// unit yields the index of a task, or those from it on of all ranks of its gang; none for a task that the job has not.
func (j *job) unit(i uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		last := j.spec.Count
		if !j.spec.IsGang() {
			last = min(last, i+1)
		}
		for ; i < last && yield(i); i++ {
		}
	}
}

// holdContract has a gang that breaks its contract (package contract) restart from its checkpoint with a better
// schedule, if that is worth it. It is a move, and no loss: like one, it gives the attempt up on disk before the next.
func (c *Coordinator) holdContract(now grid.Time, l *liveTask, fx *grid.Effects) {
	j, g := l.job, l.job.gang
	if g == nil || g.Phase() != gangs.Running {
		return
	}
	made := j.moves()
	lacks := j.contract.Lacks(now, made)
	if !lacks && !j.contract.Note(now, l.index, l.Status().Said()) || c.queue.gangs.Busy() || !c.mayMove(now, j) {
		return
	}
	nodes, rooms, _ := c.gangNodes(now, j)
	kept := c.checkpoints.View(j.spec, l.id().Task)
	if kept.Alone { // another owner would begin without it
		kept.Step = 0
	}
	v, at := contract.Verdict{}, &contract.Situation{Spec: j.spec, Size: g.Size(&j.spec.Gang), Nodes: nodes, Rooms: rooms,
		Layout: c.layoutOf(j), Step: kept.Step, Moves: made, Pays: func(ranks uint32, seconds float64) bool {
			return j.account.PaysInstead(now, int(ranks), grid.Seconds(seconds))
		}}
	if lacks {
		j.contract.Form(now, at)
	} else {
		v = j.contract.Weigh(now, at)
	}
	if v.News {
		c.trace(j.tasks.At(0), grid.Trace{At: now, What: grid.TraceContract, Refusal: grid.Refusal{Detail: clip(v.Text)}})
	}
	if v.Choice.Places != nil {
		c.askAhead(now, j, v.Choice, fx)
	}
}

// mayMove reports whether all ranks of a gang run, and may move. Once one has ended the others are about to, too.
func (c *Coordinator) mayMove(now grid.Time, j *job) bool {
	for i := range j.gang.Ranks() {
		if o := j.at(i).Live; j.tasks.State(i) == grid.Ended || j.gang.Result(i) != nil || o != nil && o.result != nil {
			return false
		}
	}
	return !j.cancelled && c.mayAct(now, j)
}

// answeredAhead takes the answer of a node that was asked for slots before a move.
func (c *Coordinator) answeredAhead(now grid.Time, j *job, from grid.NodeID, r *grid.Reserve, fx *grid.Effects) {
	if r.Refusal.Why != grid.WhyNone {
		j.gang.RefusedAhead(now, from, r)
		c.stayGang(now, j, c.peers.Name(from)+" keeps no slots for it: "+r.Refusal.Why.String(), fx)
	} else if to, all := j.contract.KeptAhead(from, r); all && c.mayMove(now, j) {
		c.recordMove(now, j, to, fx)
	}
}

func (c *Coordinator) stayGang(now grid.Time, j *job, why string, fx *grid.Effects) {
	c.trace(j.tasks.At(0), grid.Trace{At: now, What: grid.TraceContract,
		Refusal: grid.Refusal{Detail: clip("stays: " + why)}})
	j.gang.Due = grid.Never
	j.contract.Stay(now, fx)
	c.endTurn(j)
}

// layoutOf says where the ranks that run are, and their shares, which of an earlier owner's attempt a checkpoint tells.
func (c *Coordinator) layoutOf(j *job) []grid.RankPlace {
	if layout := j.gang.Layout(); layout != nil {
		return layout
	}
	workers := make([]grid.NodeID, j.gang.Ranks())
	for i := range workers {
		workers[i] = j.at(uint32(i)).Worker
	}
	return contract.Layout(workers, c.checkpoints.Divided(j.spec, j.attempt(0)))
}

// moveGang gives up the attempt of all ranks for one of another schedule. Its slots are asked for before those of the
// ranks are given back: else work that waits where a rank was starts there in the same step.
func (c *Coordinator) moveGang(now grid.Time, j *job, to gangs.Choice, fx *grid.Effects) {
	j.tasks.At(0).Pulls = uint8(j.moves() + 1)
	j.gang.Move()
	c.beginRound(now, j, to, fx)
	j.contract.Moved(to)
	c.dropRanks(now, j, fx)
	c.awaitGang(now, j, grid.Refusal{Why: grid.WhyGang, Detail: "it moves to a better schedule"}, fx)
}

// restartGang gives up the attempt of all ranks, which may have started, and has the gang placed again after a pause.
func (c *Coordinator) restartGang(now grid.Time, j *job, pause time.Duration, why string, fx *grid.Effects) {
	c.releaseSlots(now, j, fx)
	c.dropRanks(now, j, fx)
	j.gang.Lost()
	j.gang.Due = now.Add(pause)
	c.awaitGang(now, j, grid.Refusal{Why: grid.WhyGang, Detail: clip(why)}, fx)
}

// rankPlaces are the places of all ranks, if these are to reach each other or have shares of the work.
func (j *job) rankPlaces() []grid.RankPlace {
	if j.gang == nil || j.spec.Network != grid.NetworkGang && j.spec.Gang.Search == nil {
		return nil
	}
	return j.gang.Layout()
}

// held is what the ranks of a gang have at nodes.
func (j *job) held() map[grid.NodeID]grid.Resources {
	held := map[grid.NodeID]grid.Resources{}
	for i := range j.spec.Count {
		if t := j.at(i); t.Live != nil && t.Live.Phase() == live.Placed {
			held[t.Worker] = held[t.Worker].Plus(j.spec.Needs.Resources)
		}
	}
	return held
}

// chooseWorkers chooses those of a gang's next attempt: where it moves to, or by a search.
func (j *job) chooseWorkers(now grid.Time, by gangs.Chooser, nodes []grid.GangNode, rooms []int) gangs.Choice {
	x := j.contract.Planned(now, j.gang, nodes)
	if x.Places == nil {
		x = j.gang.Choose(now, by, &j.spec.Gang, j.spec.Needs.Resources, nodes, rooms)
	}
	j.contract.Promise(x.Time)
	return x
}

// moveRecorded has a gang move that waited for an entry of its register.
func (c *Coordinator) moveRecorded(now grid.Time, j *job, entry uint32, fx *grid.Effects) {
	if !j.spec.CountsMoves() || entry != j.spec.MovesEntry() || j.gang == nil || j.gang.Phase() != gangs.Running {
		return
	}
	if to, waits := j.contract.Records(); waits && contract.EndsAsMove(j.spec, j.replica, j.gang.Attempt()) &&
		c.mayMove(now, j) {
		c.moveGang(now, j, to, fx)
	}
}

// finishMove ends an attempt that a majority has recorded as given up for a move, which may be another one than its
// owner had in mind.
func (c *Coordinator) finishMove(now grid.Time, j *job, why string, fx *grid.Effects) {
	c.releaseSlots(now, j, fx)
	why = "it moves, as was recorded: " + why
	to, reported := gangs.Choice{}, j.at(0).Live != nil
	// else it waits in the queue: for its turn, for a majority, or for what its budget leaves
	atOnce := c.mayAct(now, j) && !j.cancelled && !j.BulkEnd().On() && j.account == nil && !c.queue.gangs.Busy()
	if by, err := gangChooser(&j.spec.Gang, false); err == nil && atOnce {
		nodes, rooms, _ := c.gangNodes(now, j)
		to = by.Choose(j.gang.Size(&j.spec.Gang), nodes, rooms)
	}
	if to.Places != nil {
		c.trace(j.tasks.At(0), grid.Trace{At: now, What: grid.TraceContract, Refusal: grid.Refusal{Detail: clip(why)}})
		c.moveGang(now, j, to, fx)
	} else {
		j.tasks.At(0).Pulls = uint8(j.moves() + 1)
		c.restartGang(now, j, c.cfg.PollCap, why, fx)
	}
	if !reported { // else it was dropped, and its record saved
		c.saveEntry(j, 0, fx)
	}
}
