package node

import (
	"slices"
	"time"

	"skep/grid"
)

// post is whom a worker here tells about the attempts of a job that has a register. A job without one is told of to
// its origin, always.
type post struct {
	members []grid.NodeID
	owner   grid.NodeID
	epoch   uint32
	works   int // attempts here
	claims  claims
	sure    bool // the members are the origin's word; else they are what another said that offered attempts
}

// owner is whom attempts of a job are told of to.
func (n *Node) owner(id grid.JobID) grid.NodeID {
	if p := n.posts[id]; p != nil {
		return p.owner
	}
	return id.Origin
}

// kin lists the members of a job's register that attempts here are of; nil = it has none.
func (n *Node) kin(id grid.JobID) []grid.NodeID {
	if p := n.posts[id]; p != nil {
		return p.members
	}
	return nil
}

// enlist notes an attempt of a job that has a register, and who its owner is.
func (n *Node) enlist(id grid.JobID, members []grid.NodeID, owner grid.NodeID, epoch uint32, sure bool) {
	if len(members) == 0 {
		return
	}
	p := n.posts[id]
	if p == nil {
		if n.posts == nil {
			n.posts = make(map[grid.JobID]*post)
		}
		p = &post{members: slices.Clone(members), sure: sure}
		n.posts[id] = p
	}
	p.works++
	if epoch > p.epoch {
		p.owner, p.epoch = owner, epoch
	}
}

// dismiss notes that an attempt is no longer here.
func (n *Node) dismiss(id grid.JobID) {
	if p := n.posts[id]; p != nil {
		if p.works--; p.works == 0 {
			delete(n.posts, id)
		}
	}
}

// mayRelease reports whether a node may end or forget attempts of a job here: its owner, or another member of its
// register, which knows that the job has come to its end. To the owner itself nobody says so: it may be the late word of an
// earlier one about what was taken over since.
func (n *Node) mayRelease(from grid.NodeID, id grid.JobID) bool {
	owner, p := n.owner(id), n.posts[id]
	return owner == from || p != nil && owner != n.cfg.Self && slices.Contains(p.members, from)
}

// heed learns who owns a job now, and tells that node what is here of the job.
func (n *Node) heed(now grid.Time, id grid.JobID, epoch uint32, owner grid.NodeID, fx *grid.Effects) {
	if j := n.job(id); j != nil && j.guard != nil && epoch > j.guard.epoch && j.guard.reg.Place(owner) >= 0 {
		j.guard.boss, j.guard.epoch, j.guard.since = owner, epoch, n.wall.At(now).UnixNano()
		if j.confirmed() {
			n.reply(&j.guard.callers, j.id, fx)
		}
		if owner != n.cfg.Self {
			n.pair(owner).heard = max(n.pair(owner).heard, now)
			if j.guard.reg.Leads() {
				n.stepDown(j, fx)
			}
		}
	}
	n.serve(now, id, claim{owner, epoch}, fx)
}

// serve has the attempts of a job here go to the owner that it has now, and tells that node of them.
func (n *Node) serve(now grid.Time, id grid.JobID, c claim, fx *grid.Effects) {
	p, owner, epoch := n.posts[id], c.owner, c.epoch
	if p == nil || epoch <= p.epoch || !slices.Contains(p.members, owner) {
		return
	}
	own := p.owner == n.cfg.Self
	p.owner, p.epoch = owner, epoch
	if owner != n.cfg.Self {
		if own {
			n.suspend(id)
			n.saveResults(id, fx)
		}
		n.tellOf(now, id, owner, fx)
		return
	}
	if j := n.job(id); j != nil && j.guard != nil && j.guard.reg.State().Done {
		n.clear(now, j, fx)
		return
	}
	for _, w := range n.exec.Of(id, nil) {
		if n.adopt(now, n.cfg.Self, w.ID, fx) && w.State == grid.WorkFinished {
			n.resulted(now, n.cfg.Self, w.ID, w.Result, fx)
		}
	}
}

// tellOf tells the owner that a job has now what is here of that job, and of no other: who takes over a thousand jobs at once would else be
// told of each of them a thousand times.
func (n *Node) tellOf(now grid.Time, id grid.JobID, owner grid.NodeID, fx *grid.Effects) {
	if !n.reaches(owner) {
		n.dial(now, owner, fx) // and it is told when it is connected
	}
	lease := time.Duration(0)
	for _, w := range n.exec.Of(id, nil) {
		lease = max(lease, w.Lease)
		switch {
		case !n.reaches(owner):
		case w.State == grid.WorkFinished:
			w.Tries = 0
			n.sendResult(now, w, fx)
		case w.State == grid.WorkQueued:
			n.askHold(now, n.sent, w, owner, fx)
		default:
			m := batch(fx, n.sent, owner, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		}
	}
	n.beatIn(now, lease, fx)
}

// saveResults saves the results of a job's attempts here. While this node was the job's owner the register held them.
func (n *Node) saveResults(id grid.JobID, fx *grid.Effects) {
	for _, w := range n.exec.Of(id, nil) {
		if w.State == grid.WorkFinished {
			n.saveWork(w, fx)
		}
	}
}

// taughtOwners hears from an announcement, or from a member that was told what is not its to hear, who owns jobs now.
func (n *Node) taughtOwners(now grid.Time, from grid.NodeID, m *grid.Message, announced bool, fx *grid.Effects) {
	if !announced {
		n.claimed(now, from, m.Guard.Job, claim{m.Guard.Owner, m.Guard.Epoch}, fx)
		return
	}
	for _, x := range m.Attempts {
		if n.job(x.Task.Job) == nil {
			n.hints.add(x.Task.Job, heir{from, x.Epoch, n.wall.At(now).UnixNano()})
		}
		n.claimed(now, from, x.Task.Job, claim{from, x.Epoch}, fx)
	}
}

// redirect tells a worker whom this node takes for a job's owner.
func (n *Node) redirect(to grid.NodeID, j *job, fx *grid.Effects) {
	if to == n.cfg.Self || j.guard.boss == n.cfg.Self && !j.guard.reg.Leads() {
		return
	}
	m := fx.Send(to, grid.KindTakeover)
	m.Guard.Job, m.Guard.Epoch, m.Guard.Owner = j.id, j.guard.epoch, j.guard.boss
}

// proclaim announces what this node has taken over.
func (n *Node) proclaim(fx *grid.Effects) {
	for len(n.taken) > 0 {
		m := fx.Announce(grid.KindTakeover)
		k := min(len(n.taken), maxProclaimed)
		for _, id := range n.taken[:k] {
			if j := n.job(id); j != nil && j.leads() {
				m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: j.guard.epoch}})
			}
		}
		n.taken = slices.Delete(n.taken, 0, k)
	}
}

// maxProclaimed bounds the jobs in an announcement, whose size is bounded.
const maxProclaimed = 128
