package node

import (
	"skep/grid"
	"skep/node/quota"
	"skep/register"
	"skep/sparse"
)

// What this node keeps for others is counted by who answers for it, before any of it is saved or made: see package quota. Its own jobs
// are not counted.

// What is kept takes so many bytes of memory beyond the strings in it; on disk it is less.
const (
	jobBytes        = 4 * grid.KiB           // a job and its register, with their places in maps and lists
	offerBytes      = grid.KiB               // an attempt
	leafBytes       = sparse.Leaf * 240      // a run of tasks and of entries, without what these point to
	inputBytes      = grid.Bytes(80)         // an input
	entryBytes      = grid.Bytes(700)        // a task that ended without having run
	stringBytes     = grid.Bytes(16)         // a string
	typicalJobBytes = jobBytes + 64*grid.KiB // a job that is not unusual
)

// maxEvictionsPerStep bounds the jobs that are forgotten in a step to make room: after a start there can be many more than there may be.
const maxEvictionsPerStep = 256

// footprint is what a register counts for.
type footprint struct {
	base       grid.Bytes // without its entries
	endedTasks uint32     // tasks, among those that are over; 0 = all
}

// specBytes is about how many bytes a specification takes.
func specBytes(s *grid.JobSpec) grid.Bytes {
	size := 2*len(s.Sealed) + len(s.Name) + len(s.Class) + len(s.Policy)
	words := len(s.Command) + len(s.Outputs) + 2*len(s.Env)
	for _, w := range s.Command {
		size += len(w)
	}
	for _, w := range s.Outputs {
		size += len(w)
	}
	for i := range s.Env {
		size += len(s.Env[i].Name) + len(s.Env[i].Value)
	}
	for i := range s.Inputs {
		size += len(s.Inputs[i].Path)
	}
	for i := range s.Needs.Labels {
		l := &s.Needs.Labels[i]
		size, words = size+len(l.Key), words+2+len(l.Values)
		for _, v := range l.Values {
			size += len(v)
		}
	}
	return grid.Bytes(size) + grid.Bytes(words)*stringBytes + grid.Bytes(len(s.Inputs))*inputBytes
}

// resultBytes is about how many bytes a result takes.
func resultBytes(r *grid.Result) grid.Bytes {
	return grid.Bytes(register.Weight(&grid.Final{Result: r}))
}

// parties are who answers for what a node brings of a job. Its origin does if it is the origin's own word or bears the origin's
// signature, which the driver has checked: else anybody could use up what is kept for another by naming it.
func parties(id grid.JobID, spec *grid.JobSpec, from grid.NodeID) quota.Parties {
	who := quota.Parties{Sender: from}
	if from == id.Origin || spec.Sealed != "" {
		who.Origin = id.Origin
	}
	return who
}

// admitJob says why a job must not be kept here for who brings it; "" = it may, and then there is room for it.
func (n *Node) admitJob(id grid.JobID, spec *grid.JobSpec, from grid.NodeID, fx *grid.Effects) string {
	return n.admit(parties(id, spec, from), quota.Amount{Bytes: jobBytes + specBytes(spec), Registers: 1, Tasks: int(spec.Count)}, fx)
}

// admitOffer says why an attempt must not be taken from a node; "" = it may.
func (n *Node) admitOffer(from grid.NodeID, o *grid.Offer, fx *grid.Effects) string {
	return n.admit(parties(o.ID.Task.Job, o.Spec, from), quota.Amount{Bytes: offerBytes + specBytes(o.Spec), Offers: 1}, fx)
}

// admitWrite says why what an owner writes to a job must not be kept; "" = it may.
func (n *Node) admitWrite(j *job, g *grid.Register, fx *grid.Effects) string {
	who, known := n.ledger.Of(j.id)
	if !known || len(g.Finals) == 0 {
		return ""
	}
	more, last := grid.Bytes(0), ^uint32(0)
	for k := range g.Finals {
		f := &g.Finals[k]
		if f.Index > j.spec.Count {
			continue
		}
		if v, _ := j.replica.reg.Value(f.Index); v != nil && v.Epoch >= g.Epoch { // repeated
			continue
		}
		more += grid.Bytes(register.Weight(f))
		if leaf := f.Index / sparse.Leaf; leaf != last && j.replica.reg.Lacks(f.Index) {
			more, last = more+leafBytes, leaf
		}
	}
	return n.admit(who, quota.Amount{Bytes: more}, fx)
}

// admit says why something must not be kept; else it makes room at the cost of the oldest jobs that are over.
func (n *Node) admit(who quota.Parties, size quota.Amount, fx *grid.Effects) string {
	if why := n.ledger.Admit(who, size); why != "" {
		return why
	}
	for range maxEvictionsPerStep {
		id, is := n.ledger.Oldest(who, size)
		if !is {
			return ""
		}
		at := n.archive.find(id)
		n.forgetJob(n.jobs.get(id), fx)
		n.archive.remove(n.cfg.Self, at)
	}
	if n.ledger.Crowded(who, size) {
		return "room is being made"
	}
	return ""
}

// chargeJob counts a job that a node brought here.
func (n *Node) chargeJob(j *job, from grid.NodeID) {
	n.ledger.Keep(j.id, parties(j.id, j.spec, from), quota.Amount{Bytes: j.replica.base, Registers: 1, Tasks: j.count()})
	n.rechargeJob(j)
}

// rechargeJob counts a job anew after something was written to it.
func (n *Node) rechargeJob(j *job) {
	if g := j.replica; j.id.Origin != n.cfg.Self {
		n.ledger.Resize(j.id, g.base+g.reg.Bytes()+grid.Bytes(max(g.reg.Leaves(), j.tasks.Leaves()))*leafBytes+g.deposits.resultBytes)
	}
}

// quotaLeft is what a node is told that asks whether this one lives: 0 = a job of any size of its would be kept; else the tasks that one may
// have, and one.
func (n *Node) quotaLeft(id grid.NodeID) uint32 {
	left := n.ledger.Left(quota.Parties{Origin: id, Sender: id})
	switch {
	case left.Bytes < typicalJobBytes || left.Registers < 1 || left.Tasks < 1:
		return 1
	case left.Tasks >= grid.MaxCount:
		return 0
	}
	return uint32(left.Tasks) + 1
}
