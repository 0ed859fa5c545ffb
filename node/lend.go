package node

import (
	"fmt"

	"skep/grid"
)

// The member's part: room on the disk for the files of jobs that were submitted elsewhere. Who asks for it is not
// trusted: the room for all of them is bounded, no owner gets more than half of it, and what it says of files counts only
// when files of that hash and size have come.

// lent is what this node has of the files of a job whose register it is a member of.
type lent struct {
	to     grid.NodeID // whom the room is charged to; zero = nobody yet
	size   grid.Bytes  // of what is here
	inputs presence
	tasks  map[uint32]*left // by index; never gone through
	words  grid.Bytes       // of the results in them
}

// left is what a task left.
type left struct {
	attempt grid.Attempt
	result  *grid.Result // until the register has it
	size    grid.Bytes
	state   presence
}

// presence says whether files are here.
type presence uint8

const (
	absent presence = iota
	coming
	here
)

// maxComing bounds what is on its way here for one owner at a time, in jobs' inputs and tasks' files.
const maxComing = 1024

// hasInputs reports whether a job's inputs are here for certain.
func (n *Node) hasInputs(j *job) bool {
	return j.id.Origin == n.cfg.Self || j.guard.lent.inputs == here
}

// retain notes that the files of a result are here.
func (n *Node) retain(j *job, i uint32, a grid.Attempt, r *grid.Result) {
	x := &left{attempt: a, result: r, size: weigh(r.Blobs(nil)), state: here}
	n.charge(j, x.size)
	n.putLeft(j, i, x)
}

func (n *Node) putLeft(j *job, i uint32, x *left) {
	g := &j.guard.lent
	n.unlend(j, i)
	if g.tasks == nil {
		g.tasks = make(map[uint32]*left)
	}
	g.tasks[i] = x
	if x.result != nil {
		g.words += weighResult(x.result)
	}
	n.resize(j)
}

// keeps returns what is here, or on its way, of an attempt's files; nil = nothing.
func (j *job) keeps(i uint32, a grid.Attempt) *left {
	if x := j.guard.lent.tasks[i]; x != nil && x.attempt == a {
		return x
	}
	return nil
}

// payer is whom the room for a job is charged to: its owner as far as is known, or else its origin.
func (j *job) payer() grid.NodeID {
	if j.guard.boss.IsZero() {
		return j.id.Origin
	}
	return j.guard.boss
}

// lender is whom the room for a job's files is charged to: all of it to the same one.
func (j *job) lender() grid.NodeID {
	if g := &j.guard.lent; g.to.IsZero() {
		g.to = j.payer()
	}
	return j.guard.lent.to
}

// charge takes room for a job of others.
func (n *Node) charge(j *job, size grid.Bytes) {
	g := &j.guard.lent
	if j.id.Origin == n.cfg.Self || size == 0 {
		return
	}
	p := n.pair(j.lender())
	g.size += size
	n.lent += size
	p.lent += size
	switch g.size {
	case 0:
		n.unspares(j)
	case size: // it had none
		n.spares(j)
	}
}

// unlend gives the room of a task's files back. What is on its way has none yet but that of its arrival.
func (n *Node) unlend(j *job, i uint32) {
	if x := j.guard.lent.tasks[i]; x != nil {
		j.guard.lent.written(i)
		delete(j.guard.lent.tasks, i)
		if x.state == here {
			n.charge(j, -x.size)
		}
	}
}

// reclaim gives back all the room of a job.
func (n *Node) reclaim(j *job) {
	n.charge(j, -j.guard.lent.size)
	j.guard.lent = lent{}
}

// room makes sure of room for a job's files, at the cost of the oldest jobs of others that are over; else it says why there is none.
func (n *Node) room(j *job, files []grid.File, fx *grid.Effects) grid.Refusal {
	size, to := weigh(files), j.guard.lent.to
	if to.IsZero() {
		to = j.payer()
	}
	p := n.pair(to)
	switch {
	case j.id.Origin == n.cfg.Self:
		return grid.Refusal{}
	case size > n.cfg.Copies:
		return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f MiB, of at most %.1f that it copies", mebi(size), mebi(n.cfg.Copies))}
	case n.low:
		return grid.Refusal{Why: grid.WhyDisk}
	case p.coming >= maxComing:
		return grid.Refusal{Why: grid.WhyQueue}
	}
	for p.lent+size > n.cfg.Lend/2 || n.lent+size > n.cfg.Lend {
		own := p.lent+size > n.cfg.Lend/2
		if !n.sacrifice(own, to, fx) {
			return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f of at most %.1f MiB are lent to node %s", mebi(p.lent), mebi(n.cfg.Lend/2), to.Short())}
		}
	}
	return grid.Refusal{}
}

// match makes what is kept of a task's files follow what the register says of its end. Files that are not here are fetched if
// that can be now. Nothing waits for them, so a refusal is told nobody: a majority had them before the end was written, or the
// end itself says who has them.
func (n *Node) match(j *job, i uint32, fx *grid.Effects) {
	v, _ := j.guard.reg.Value(i)
	var files []grid.File
	if v.Result != nil {
		files = v.Result.Blobs(nil)
	}
	if x := j.guard.lent.tasks[i]; x != nil && (x.attempt != v.Attempt || len(files) == 0) {
		n.unlend(j, i)
	}
	j.guard.lent.written(i)
	if len(files) > 0 {
		from := j.guard.boss
		if from == n.cfg.Self {
			from = v.Worker
		}
		n.bringLeft(j, grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: v.Attempt}, v.Result, from, fx)
	}
}

// written notes that the register has a task's result.
func (g *lent) written(i uint32) {
	if x := g.tasks[i]; x != nil && x.result != nil {
		g.words -= weighResult(x.result)
		x.result = nil
	}
}
