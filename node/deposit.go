package node

import (
	"fmt"

	"skep/grid"
	"skep/node/quota"
)

// Deposits, the member's side: disk space for the files of jobs submitted elsewhere. Owners are not trusted: the
// total is bounded by the deposit quota (Config.Lend), one owner gets at most half of it, and a file counts only once
// it has arrived with the named hash and size.

// deposits are the files stored for a job whose register this node is a member of.
type deposits struct {
	payer       grid.NodeID // the node charged for the room; zero = not decided
	size        grid.Bytes  // of the files stored
	inputs      depositState
	tasks       map[uint32]*deposit // by task index; never iterated
	resultBytes grid.Bytes          // of the results in tasks
}

// deposit is the output files of one task.
type deposit struct {
	attempt grid.Attempt
	result  *grid.Result // until the register has it
	size    grid.Bytes
	state   depositState
}

// depositState tells whether files are stored here.
type depositState uint8

const (
	depositAbsent depositState = iota
	depositFetching
	depositStored
)

// maxFetching bounds the deposits being fetched for one owner at a time.
const maxFetching = 1024

// hasInputs reports whether the job's inputs are stored here.
func (n *Node) hasInputs(j *job) bool {
	return j.id.Origin == n.cfg.Self || j.replica.deposits.inputs == depositStored
}

// storeDeposit records that a result's files are stored here.
func (n *Node) storeDeposit(j *job, i uint32, a grid.Attempt, r *grid.Result) {
	x := &deposit{attempt: a, result: r, size: diskBytes(r.Blobs(nil)), state: depositStored}
	n.chargeDeposit(j, x.size)
	n.putDeposit(j, i, x)
}

func (n *Node) putDeposit(j *job, i uint32, x *deposit) {
	d := &j.replica.deposits
	n.releaseDeposit(j, i)
	if d.tasks == nil {
		d.tasks = make(map[uint32]*deposit)
	}
	d.tasks[i] = x
	if x.result != nil {
		d.resultBytes += quota.ResultBytes(x.result)
	}
	n.rechargeJob(j)
}

// depositOf returns the deposit, stored or being fetched, of an attempt; nil if none.
func (j *job) depositOf(i uint32, a grid.Attempt) *deposit {
	if x := j.replica.deposits.tasks[i]; x != nil && x.attempt == a {
		return x
	}
	return nil
}

// depositPayer returns the node to charge for the job's files: its owner, or its origin while the owner is unknown.
func (j *job) depositPayer() grid.NodeID {
	if j.ownerKnown().IsZero() {
		return j.id.Origin
	}
	return j.ownerKnown()
}

// chargedTo returns the node charged for the job's files. It is fixed at the first call, so that all are charged to
// one node.
func (j *job) chargedTo() grid.NodeID {
	if d := &j.replica.deposits; d.payer.IsZero() {
		d.payer = j.depositPayer()
	}
	return j.replica.deposits.payer
}

// chargeDeposit changes the room that a job of another origin takes; size may be negative.
func (n *Node) chargeDeposit(j *job, size grid.Bytes) {
	d := &j.replica.deposits
	if j.id.Origin == n.cfg.Self || size == 0 {
		return
	}
	p := n.accounts.of(j.chargedTo())
	n.replicas.Note(p.payer)
	d.size += size
	n.deposited += size
	p.deposited += size
	switch d.size {
	case 0:
		n.removeEvictable(j)
	case size: // it had none before
		n.addEvictable(j)
	}
	n.accounts.settle(p)
}

// releaseDeposit frees the room of a task's files. One still being fetched is charged as a transfer only.
func (n *Node) releaseDeposit(j *job, i uint32) {
	if x := j.replica.deposits.tasks[i]; x != nil {
		j.replica.deposits.resultWritten(i)
		delete(j.replica.deposits.tasks, i)
		if x.state == depositStored {
			n.chargeDeposit(j, -x.size)
		}
	}
}

// releaseDeposits frees all room of a job.
func (n *Node) releaseDeposits(j *job) {
	n.chargeDeposit(j, -j.replica.deposits.size)
	j.replica.deposits = deposits{}
}

// depositRoom makes room for a job's files by evicting the oldest evictable jobs; it returns the reason if it cannot.
func (n *Node) depositRoom(j *job, files []grid.File, fx *grid.Effects) grid.Refusal {
	size, payer := diskBytes(files), j.replica.deposits.payer
	if payer.IsZero() {
		payer = j.depositPayer()
	}
	p := n.accounts.of(payer)
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
		if !n.evictJob(own, payer, fx) {
			return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f of at most %.1f MiB are lent to node %s", mebi(p.deposited), mebi(n.cfg.Lend/2), payer.Short())}
		}
	}
	return grid.Refusal{}
}

// matchDeposit aligns a task's deposit with its committed end in the register. Missing files are fetched if possible.
// Nothing waits for them, so a refusal is not reported: a majority had them before the end was written, or the end
// itself names who has them.
func (n *Node) matchDeposit(j *job, i uint32, fx *grid.Effects) {
	v, _ := j.replica.Value(i)
	var files []grid.File
	if v.Result != nil {
		files = v.Result.Blobs(nil)
	}
	if x := j.replica.deposits.tasks[i]; x != nil && (x.attempt != v.Attempt || len(files) == 0) {
		n.releaseDeposit(j, i)
	}
	j.replica.deposits.resultWritten(i)
	if len(files) > 0 {
		from := j.ownerKnown()
		if from == n.cfg.Self {
			from = v.Worker
		}
		n.fetchOutput(j, grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: v.Attempt}, v.Result, from, fx)
	}
}

// resultWritten drops the deposit's result: the register has it.
func (d *deposits) resultWritten(i uint32) {
	if x := d.tasks[i]; x != nil && x.result != nil {
		d.resultBytes -= quota.ResultBytes(x.result)
		x.result = nil
	}
}
