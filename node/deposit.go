package node

import (
	"fmt"

	"skep/grid"
)

// The member's part: room on the disk for the files of jobs that were submitted elsewhere. Who asks for it is not
// trusted: the room for all of them is bounded, no owner gets more than half of it, and what it says of files counts only
// when files of that hash and size have come.

// deposits is what this node has of the files of a job whose register it is a member of.
type deposits struct {
	payer       grid.NodeID // whom the room is charged to; zero = nobody yet
	size        grid.Bytes  // of what is here
	inputs      depositState
	tasks       map[uint32]*deposit // by index; never gone through
	resultBytes grid.Bytes          // of the results in them
}

// deposit is what a task left.
type deposit struct {
	attempt grid.Attempt
	result  *grid.Result // until the register has it
	size    grid.Bytes
	state   depositState
}

// depositState says whether files are here.
type depositState uint8

const (
	depositAbsent depositState = iota
	depositFetching
	depositStored
)

// maxFetching bounds what is on its way here for one owner at a time, in jobs' inputs and tasks' files.
const maxFetching = 1024

// hasInputs reports whether a job's inputs are here for certain.
func (n *Node) hasInputs(j *job) bool {
	return j.id.Origin == n.cfg.Self || j.replica.deposits.inputs == depositStored
}

// storeDeposit notes that the files of a result are here.
func (n *Node) storeDeposit(j *job, i uint32, a grid.Attempt, r *grid.Result) {
	x := &deposit{attempt: a, result: r, size: diskBytes(r.Blobs(nil)), state: depositStored}
	n.chargeDeposit(j, x.size)
	n.putDeposit(j, i, x)
}

func (n *Node) putDeposit(j *job, i uint32, x *deposit) {
	g := &j.replica.deposits
	n.releaseDeposit(j, i)
	if g.tasks == nil {
		g.tasks = make(map[uint32]*deposit)
	}
	g.tasks[i] = x
	if x.result != nil {
		g.resultBytes += resultBytes(x.result)
	}
	n.rechargeJob(j)
}

// depositOf returns what is here, or on its way, of an attempt's files; nil = nothing.
func (j *job) depositOf(i uint32, a grid.Attempt) *deposit {
	if x := j.replica.deposits.tasks[i]; x != nil && x.attempt == a {
		return x
	}
	return nil
}

// depositPayer is whom the room for a job is charged to: its owner as far as is known, or else its origin.
func (j *job) depositPayer() grid.NodeID {
	if j.replica.owner.IsZero() {
		return j.id.Origin
	}
	return j.replica.owner
}

// chargedTo is whom the room for a job's files is charged to: all of it to the same one.
func (j *job) chargedTo() grid.NodeID {
	if g := &j.replica.deposits; g.payer.IsZero() {
		g.payer = j.depositPayer()
	}
	return j.replica.deposits.payer
}

// chargeDeposit takes room for a job of others.
func (n *Node) chargeDeposit(j *job, size grid.Bytes) {
	g := &j.replica.deposits
	if j.id.Origin == n.cfg.Self || size == 0 {
		return
	}
	p := n.coMember(j.chargedTo())
	g.size += size
	n.deposited += size
	p.deposited += size
	switch g.size {
	case 0:
		n.removeEvictable(j)
	case size: // it had none
		n.addEvictable(j)
	}
}

// releaseDeposit gives the room of a task's files back. What is on its way has none yet but that of its arrival.
func (n *Node) releaseDeposit(j *job, i uint32) {
	if x := j.replica.deposits.tasks[i]; x != nil {
		j.replica.deposits.resultWritten(i)
		delete(j.replica.deposits.tasks, i)
		if x.state == depositStored {
			n.chargeDeposit(j, -x.size)
		}
	}
}

// releaseDeposits gives back all the room of a job.
func (n *Node) releaseDeposits(j *job) {
	n.chargeDeposit(j, -j.replica.deposits.size)
	j.replica.deposits = deposits{}
}

// depositRoom makes sure of room for a job's files, at the cost of the oldest jobs of others that are over; else it says why there is none.
func (n *Node) depositRoom(j *job, files []grid.File, fx *grid.Effects) grid.Refusal {
	size, to := diskBytes(files), j.replica.deposits.payer
	if to.IsZero() {
		to = j.depositPayer()
	}
	p := n.coMember(to)
	switch {
	case j.id.Origin == n.cfg.Self:
		return grid.Refusal{}
	case size > n.cfg.Copies:
		return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f MiB, of at most %.1f that it copies", mebi(size), mebi(n.cfg.Copies))}
	case n.lowDisk:
		return grid.Refusal{Why: grid.WhyDisk}
	case p.fetching >= maxFetching:
		return grid.Refusal{Why: grid.WhyQueue}
	}
	for p.deposited+size > n.cfg.Lend/2 || n.deposited+size > n.cfg.Lend {
		own := p.deposited+size > n.cfg.Lend/2
		if !n.evictJob(own, to, fx) {
			return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f of at most %.1f MiB are lent to node %s", mebi(p.deposited), mebi(n.cfg.Lend/2), to.Short())}
		}
	}
	return grid.Refusal{}
}

// matchDeposit makes what is kept of a task's files follow what the register says of its end. Files that are not here are fetched if
// that can be now. Nothing waits for them, so a refusal is told nobody: a majority had them before the end was written, or the
// end itself says who has them.
func (n *Node) matchDeposit(j *job, i uint32, fx *grid.Effects) {
	v, _ := j.replica.reg.Value(i)
	var files []grid.File
	if v.Result != nil {
		files = v.Result.Blobs(nil)
	}
	if x := j.replica.deposits.tasks[i]; x != nil && (x.attempt != v.Attempt || len(files) == 0) {
		n.releaseDeposit(j, i)
	}
	j.replica.deposits.resultWritten(i)
	if len(files) > 0 {
		from := j.replica.owner
		if from == n.cfg.Self {
			from = v.Worker
		}
		n.fetchOutput(j, grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: v.Attempt}, v.Result, from, fx)
	}
}

// resultWritten notes that the register has a task's result.
func (g *deposits) resultWritten(i uint32) {
	if x := g.tasks[i]; x != nil && x.result != nil {
		g.resultBytes -= resultBytes(x.result)
		x.result = nil
	}
}
