package dependency

import (
	"slices"
	"time"

	"skep/grid"
)

// The side of the job that waits.

// Track begins to ask for what a job that this node owns waits for, if that is not asked for already.
func (d *Dependencies) Track(now grid.Time, id grid.JobID, fx *grid.Effects) {
	spec, written := d.cfg.Jobs.WaitsForJobs(id)
	if spec == nil {
		return
	}
	for k := range spec.After.Jobs {
		if d.find(id, k) != nil || d.settled(spec, k, written, new(uint32)) {
			continue
		}
		d.waits.last++
		w := &wait{number: d.waits.last, job: id, k: k, other: &spec.After.Jobs[k], every: minAsk, since: now}
		d.add(now, w)
		d.ask(now, w, fx)
	}
	d.setTimer(fx)
}

func (d *Dependencies) find(id grid.JobID, k int) *wait {
	if of := d.waits.jobs.Get(id); of != nil {
		for _, w := range of.of {
			if w.k == k {
				return w
			}
		}
	}
	return nil
}

func (d *Dependencies) add(now grid.Time, w *wait) {
	of := d.waits.jobs.Get(w.job)
	if of == nil {
		of = &waiter{job: w.job}
		d.waits.jobs.Put(of)
	}
	of.of = append(of.of, w)
	d.waits.by.Put(w)
	d.waits.due.Push(now, w)
}

func (d *Dependencies) drop(w *wait) {
	d.waits.due.Remove(w.place)
	d.waits.by.Drop(w.number)
	of := d.waits.jobs.Get(w.job)
	if of.of = slices.DeleteFunc(of.of, func(x *wait) bool { return x == w }); len(of.of) == 0 {
		d.waits.jobs.Drop(w.job)
	}
}

// settled reports whether nothing more has to be asked about a dependency: all is recorded. next is moved on to the
// first task of AfterEach that is not.
func (d *Dependencies) settled(spec *grid.JobSpec, k int, written func(uint32) bool, next *uint32) bool {
	if written(spec.DependencyEntry(k)) {
		return true
	}
	if spec.After.Jobs[k].Kind != grid.AfterEach {
		return false
	}
	for *next < spec.Count && written(spec.EachEntry(*next)) {
		*next++
	}
	return *next == spec.Count
}

// keepers are the nodes that may say how a job has ended: its origin, and the other members of its register.
func keepers(other *grid.Dependency) []grid.NodeID {
	if len(other.Members) == 0 {
		return []grid.NodeID{other.Job.Origin}
	}
	if slices.Contains(other.Members, other.Job.Origin) {
		return other.Members
	}
	return append([]grid.NodeID{other.Job.Origin}, other.Members...)
}

// ask asks whoever is likeliest to know, and schedules the next question.
func (d *Dependencies) ask(now grid.Time, w *wait, fx *grid.Effects) {
	w.to = d.choose(now, w, fx)
	d.waits.due.Update(w.place, now.Add(w.every))
	w.every = min(2*w.every, maxAsk)
	if !w.to.IsZero() {
		w.mute++
		d.send(w, w.next, fx)
	}
}

// choose returns who is asked: the owner that is known, else one of the others after the other.
func (d *Dependencies) choose(now grid.Time, w *wait, fx *grid.Effects) grid.NodeID {
	all := keepers(w.other)
	first := slices.Index(all, w.owner)
	if first < 0 || w.mute > 1 {
		first = w.mute % len(all)
	}
	for i := range all {
		id := all[(first+i)%len(all)]
		if d.cfg.Contacts.OrdersJobs(id) {
			return id
		}
		d.cfg.Contacts.Reach(now, w.other.Job, id, fx)
	}
	return grid.NodeID{}
}

// send sends a question: what has ended, of AfterEach from a task on, and which files of it are wanted.
func (d *Dependencies) send(w *wait, next uint32, fx *grid.Effects) {
	spec, _ := d.cfg.Jobs.WaitsForJobs(w.job)
	w.page = next
	m := fx.Send(w.to, grid.KindAwait)
	g := &m.Register
	g.Job, g.Seq, g.Next, g.More = w.other.Job, w.number, next, w.other.Kind == grid.AfterEach
	for _, in := range spec.After.Inputs {
		if int(in.Of) == w.k && !slices.ContainsFunc(g.Entries, func(e grid.Entry) bool { return e.Index == in.Task }) {
			g.Entries = append(g.Entries, grid.Entry{Index: in.Task})
		}
	}
}

// Wake asks again what is due, and forgets what no job here waits for any more.
func (d *Dependencies) Wake(now grid.Time, fx *grid.Effects) {
	if now >= d.waits.timer {
		d.waits.timer = 0
	}
	for d.waits.due.Len() > 0 {
		at, w := d.waits.due.First()
		if at > now {
			break
		}
		spec, written := d.cfg.Jobs.WaitsForJobs(w.job)
		switch {
		case spec == nil || !w.isOf(spec) || d.settled(spec, w.k, written, &w.next):
			d.drop(w)
		case max(w.heard, w.since).Add(giveUp) <= now:
			d.recordVain(now, w, spec, "cannot be asked for: nobody that keeps it has answered for "+giveUp.String(), fx)
		default:
			d.ask(now, w, fx)
		}
	}
	d.setTimer(fx)
}

// isOf reports whether a job waits as it did when this began: the replica of that ID may have been a forged one.
func (w *wait) isOf(spec *grid.JobSpec) bool {
	return w.k < len(spec.After.Jobs) && spec.After.Jobs[w.k].Job == w.other.Job
}

// setTimer sets the timer for the next question.
func (d *Dependencies) setTimer(fx *grid.Effects) {
	if d.waits.due.Len() == 0 {
		return
	}
	if at, _ := d.waits.due.First(); d.waits.timer == 0 || at < d.waits.timer {
		d.waits.timer = at
		fx.Wake(at, grid.TimerAwait, 0)
	}
}

// PeerUp asks a node that has connected about the jobs that it keeps, if nobody else has answered.
func (d *Dependencies) PeerUp(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	d.hurry(now, func(w *wait) bool {
		return (w.to.IsZero() || w.mute > 0 || w.to == id) && slices.Contains(keepers(w.other), id)
	}, fx)
}

// PeerDown asks others soon about the jobs that a node was asked about which is gone.
func (d *Dependencies) PeerDown(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	d.hurry(now, func(w *wait) bool { return w.to == id }, fx)
}

// hurry has questions asked soon, but not more often than a question may be repeated.
func (d *Dependencies) hurry(now grid.Time, which func(*wait) bool, fx *grid.Effects) {
	if d.waits.due.Len() == 0 {
		return
	}
	for w := range d.waits.by.All() {
		if which(w) {
			w.every = minAsk
			d.waits.due.Update(w.place, now.Add(minAsk/4))
		}
	}
	d.setTimer(fx)
}

// News is what is known here of a job that another one waits for.
type News struct {
	Asked grid.NodeID   // who was asked last; zero = nobody could be
	Age   time.Duration // of the newest answer; negative = there was none
}

// News returns that of a dependency of a job here; false = nothing is asked about it any more, or not by this node.
func (d *Dependencies) News(now grid.Time, id grid.JobID, k int) (n News, found bool) {
	w := d.find(id, k)
	if w == nil {
		return n, false
	}
	n = News{Asked: w.to, Age: -1}
	if w.heard > 0 {
		n.Age = now.Sub(w.heard)
	}
	return n, true
}
