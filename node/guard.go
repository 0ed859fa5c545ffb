package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

// guard is what this node keeps of a job whose register it is a member of, as its owner or not.
type guard struct {
	reg     *register.Register
	fresh   []grid.Time // by place, of the owner: when the last answered write of this epoch was sent
	held    []grid.Time // by place, of the owner: since when it is known to have accepted this epoch
	sent    []grid.Time // by place: when the write under way was sent first; 0 = none
	callers []uint64    // who submitted, and is answered when a majority holds the job
	until   grid.Time   // when they are answered otherwise
	cancels []uint64    // who cancelled, and is answered when a majority holds that
	boss    grid.NodeID // the owner as far as is known here
	epoch   uint32      // of the boss
	since   int64       // wall time since when
	above   uint32      // highest epoch that a member has said to have promised
	known   uint32      // of the owner: the epoch from which on it knows every attempt
	forming bool        // of the origin: no majority has answered yet
	closing bool        // every task has ended, and the members are about to be told so
	orphan  bool        // its owner lives and does not speak of it
	wrote   grid.Time   // when the owner's last write was answered
	told    int         // times that the others were told of the end
	due     grid.Time   // when this member may try to become the owner
	limbo   grid.Time   // until then a new owner waits for word of attempts; 0 = not, or over
	inputs  *copies     // of the owner: who has the job's inputs; nil = it has none
	lone    []*live     // of the owner: tasks that wait for a majority
	leaves  []*live     // of the owner: tasks whose results' files are being copied
	lent    lent
	left    bool // nothing is left to look after: it is in the node's list no more
	sweep   sweep
	believed
	load
}

// Bounds of time, as shares of the lease L. A member promises a new epoch not before wait(L) after it last answered
// the owner, and the owner acts for L after it sent what was answered. With clocks that go wrong by at most
// maxDrift either way, (1+δ)/(1−δ)·L on the faster clock is not shorter than L on the slower.
const maxDrift = 0.05

// wait is how long a member waits after the owner's last word: see maxDrift; a twentieth of the lease is added for
// a disk that lets effects out late.
func wait(lease time.Duration) time.Duration {
	return time.Duration(float64(lease)*(1+maxDrift)/(1-maxDrift)) + lease/20
}

// leads reports whether this node can say what became of a job's attempts: it brings the job to its end, or the end is known.
func (j *job) leads() bool { return j.guard == nil || j.guard.reg.Leads() || j.guard.reg.State().Done }

// owned reports whether this node owns the register of a job that is not over.
func (j *job) owned() bool { return j.guard.reg.Leads() && !j.guard.reg.State().Done }

// acts reports whether this node may decide about a job now: it is the owner, and a majority of the register has
// answered what it sent within a lease.
func (n *Node) acts(now grid.Time, j *job) bool {
	g := j.guard
	if g == nil {
		return true
	}
	return g.reg.Ready() && now < n.actsUntil(j)
}

// actsUntil is the time from which on this node may not decide about a job, unless more is heard from the register.
func (n *Node) actsUntil(j *job) grid.Time {
	var heard [grid.MaxMembers]grid.Time
	g, k := j.guard, 0
	for place, id := range g.reg.Members() {
		if id != n.cfg.Self && g.reg.Holds(place) {
			heard[k] = g.fresh[place]
			if p := n.pairs.by.get(id); p != nil && p.verified > g.held[place] { // a watch from before did not name this register
				heard[k] = max(heard[k], p.verified)
			}
			k++
		}
	}
	others := g.reg.Majority() - 1
	if k < others {
		return 0
	}
	slices.Sort(heard[:k])
	return heard[k-others].Add(n.cfg.Lease)
}

// newGuard makes a job with a register.
func (n *Node) newGuard(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s register.State) *job {
	j := n.newJob(id, spec, submitted)
	j.guard = &guard{reg: register.New(n.cfg.Self, members, int(spec.Count), s), fresh: make([]grid.Time, len(members)), held: make([]grid.Time, len(members)),
		sent: make([]grid.Time, len(members)), boss: s.Owner, epoch: s.Epoch,
		load: load{base: registerBytes + weighSpec(spec)}}
	n.guardWith(j)
	return j
}

// propose writes a task's end to the register. It is told when a majority has it.
func (n *Node) propose(j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	t.unsure = true
	j.unsure++
	j.guard.reg.Propose(&grid.Final{Index: i, Attempt: t.attempt, Worker: t.worker, Lost: t.lost, Result: r,
		Placed: t.placed, Began: t.began, Done: t.done})
	n.match(j, i, fx)
	n.saveEntry(j, i, fx)
	n.resize(j)
	n.unsaid(j)
}

// unsaid notes that a job's register may have something to say: it is said at the end of the step.
func (n *Node) unsaid(j *job) {
	if !j.dirty {
		j.dirty = true
		n.dirty = append(n.dirty, j)
	}
}

// say sends what registers have to say to members that have answered what was said before.
func (n *Node) say(now grid.Time, fx *grid.Effects) {
	for k, j := range n.dirty {
		n.dirty[k] = nil
		j.dirty = false
		for place, id := range j.guard.reg.Members() {
			m := fx.Send(id, grid.KindGuard)
			if !j.guard.reg.Next(place, &m.Guard) {
				fx.Sends = fx.Sends[:len(fx.Sends)-1]
				continue
			}
			j.guard.sent[place] = now
			n.address(now, j, place, m)
		}
	}
	n.dirty = n.dirty[:0]
}

// address fills in what a write says of the job. Who has not accepted anything in this epoch yet is told what the job is.
func (n *Node) address(now grid.Time, j *job, place int, m *grid.Message) {
	g := &m.Guard
	g.Job = j.id
	if !j.guard.reg.Holds(place) {
		n.introduce(now, j, g)
	}
	n.turn(now, g.Finals)
}

// introduce says what job a message is about, for a member that may not know it.
func (n *Node) introduce(now grid.Time, j *job, g *grid.Guard) {
	g.Spec, g.Members = j.spec, append(g.Members[:0], j.guard.reg.Members()...)
	g.Age = time.Duration(max(n.wall.At(now).UnixNano()-j.submitted, 0))
}

// turn turns wall times of entries into how long ago they are, and back: nothing on the wire is a time.
func (n *Node) turn(now grid.Time, finals []grid.Final) {
	wall := n.wall.At(now).UnixNano()
	for k := range finals {
		for _, t := range [...]*int64{&finals[k].Placed, &finals[k].Began, &finals[k].Done} {
			if *t != 0 {
				*t = max(wall-*t, 1)
			}
		}
	}
}

// wrote takes a member's answer to a write.
func (n *Node) wrote(now grid.Time, from grid.NodeID, a *grid.Guard, fx *grid.Effects) {
	j := n.job(a.Job)
	if j == nil || j.guard == nil {
		n.stats.Stale++
		return
	}
	if n.outsider(j, from) {
		n.unasked(from, fx)
		return
	}
	g, acted := j.guard, n.acts(now, j)
	held := g.reg.Holds(max(g.reg.Place(from), 0))
	finals, mine := g.reg.Wrote(from, a, n.scratch.finals[:0])
	n.scratch.finals = finals
	if !mine {
		n.stats.Stale++
		return
	}
	place := g.reg.Place(from)
	n.askCopies(now, j, fx)
	if a.Answer == grid.GuardOK {
		g.fresh[place] = max(g.fresh[place], g.sent[place])
		if n.pair(from); !held { // from now on it is watched
			g.held[place] = now
		}
	} else if a.Answer == grid.GuardHigher {
		n.higher(now, j, a, fx)
	}
	g.sent[place] = 0
	if a.Answer == grid.GuardDone && !g.reg.State().Done { // somebody else brought it to its end
		n.stepDown(j, fx)
		n.bid(now, j, fx)
	}
	for _, i := range finals {
		n.finalized(now, j, i, fx)
	}
	if g.reg.Ready() {
		g.forming = false
		n.welcome(now, j, fx)
		n.close(now, j, fx)
	}
	if g.reg.Leads() {
		n.unsaid(j)
	}
	if !acted && n.acts(now, j) {
		n.proceed(j)
	}
}

// finalized carries out what waited for a majority: the end is visible now, and the worker may forget it.
func (n *Node) finalized(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	n.saveEntry(j, i, fx)
	if i == j.spec.Count {
		for _, c := range j.guard.cancels {
			n.answerCancel(now, j, c, fx)
		}
		j.guard.cancels = nil
		return
	}
	fx.Saves[len(fx.Saves)-1].Later = true // this node is one of the majority; after a crash it hears again that there is one
	t := j.task(i)
	if !t.unsure {
		return
	}
	n.sure(j, i, fx)
	n.letGo(now, j, i, fx)
}

// sure makes a task's end visible.
func (n *Node) sure(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	t.unsure = false
	j.unsure--
	j.done = max(j.done, t.done)
	if t.result.Exit != 0 {
		j.failed++
		j.exit = max(j.exit, t.result.Exit)
	}
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}
