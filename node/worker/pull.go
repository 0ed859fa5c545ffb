package worker

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// Waiting work that goes to an idle node which asks for it.

const (
	minOverdue     = 100 * time.Millisecond // work is not overdue before, whatever was predicted
	maxYields      = exec.MaxSeen           // waiting attempts that are considered
	maxWaitingJobs = 16                     // jobs that they are of
)

// Room returns the resources that are free and wanted by nothing here, if the worker takes work, else nothing; and
// whether work waits for a slot.
func (w *Worker) Room() (idle grid.Resources, queued bool) {
	room, none := w.exec.Room(maxYields)
	if w.leaving || w.cfg.Private || w.exec.Refuses(grid.Resources{}) != grid.WhyNone {
		room = grid.Resources{}
	}
	return room, !none
}

// overdueAt is when a waiting attempt has waited half as long again as was predicted when it came.
func overdueAt(a *exec.Work) grid.Time {
	return a.Since.Add(max(min(a.Expected, time.Hour)*3/2, minOverdue))
}

// NextOverdue is when the next of the first waiting attempts is overdue; Never = none will be.
func (w *Worker) NextOverdue(now grid.Time) grid.Time {
	next, queue := grid.Never, w.exec.Queue()
	for _, a := range queue[:min(len(queue), maxYields)] {
		if at := overdueAt(a); at > now && !a.Stays {
			next = min(next, at)
		}
	}
	return next
}

// mayYield reports whether a waiting attempt may be given away. Work of others without retries goes only if its owner
// asks before it gives the attempt up: else the attempt would count as lost if the refusal were lost in transit. A
// later owner than the origin, or the origin in a later epoch, may not know the attempt and would end its task.
func (w *Worker) mayYield(a *exec.Work) bool {
	job := a.ID.Task.Job
	switch rec := w.owners[job]; {
	case a.Stays || a.Spec.IsGang():
		return false
	case a.Spec.Retries > 0 || w.own(job):
		return true
	default:
		return a.Asks && w.Owner(job) == job.Origin && (rec == nil || a.ID.Epoch >= rec.epoch)
	}
}

// Waiting appends what waits here, by job.
func (w *Worker) Waiting(now grid.Time, dst []grid.Waiting) []grid.Waiting {
	first, late := len(dst), w.refuted
	w.exec.Waits(now, w.cfg.RunTime, maxYields, func(a *exec.Work, end float64) bool {
		if !w.mayYield(a) {
			return true
		}
		job := a.ID.Task.Job
		at := slices.IndexFunc(dst[first:], func(x grid.Waiting) bool { return x.Job == job && x.Class == a.Class })
		if at < 0 {
			if at = len(dst) - first; at == maxWaitingJobs {
				return false
			}
			dst = append(dst, grid.Waiting{Job: job, Owner: w.Owner(job), Spec: a.Submitted(), Class: a.Class,
				Level: a.Level(), Barred: w.barred(a)})
		}
		x := &dst[first+at]
		x.Barred = intersection(x.Barred, w.barred(a))
		if w.own(job) {
			x.Here = append(x.Here, a.ID)
		}
		late = late || now >= overdueAt(a)
		x.End, x.Overdue = max(x.End, end), x.Overdue || late
		return true
	})
	return dst
}

// barred returns the nodes that may not pull an attempt. This node, as its owner, is asked instead: what it said with
// the offer may be over.
func (w *Worker) barred(a *exec.Work) []grid.NodeID {
	if w.own(a.ID.Task.Job) {
		return nil
	}
	return a.Barred()
}

// intersection returns the nodes that are in both lists, which stay as they are.
func intersection(a, b []grid.NodeID) []grid.NodeID {
	if len(a) == 0 || slices.Equal(a, b) {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(id grid.NodeID) bool { return !slices.Contains(b, id) })
}

// Yield hands a waiting attempt of a job back to its owner, for the node that asked and would be done with it in a
// time: the first that would end later here, or is overdue. may asks the owner, if it is this node. It reports whether
// there was one.
func (w *Worker) Yield(now grid.Time, x *grid.Waiting, to grid.NodeID, there float64, may func(grid.AttemptID) bool,
	fx *grid.Effects) bool {
	var given *exec.Work
	late := w.refuted
	w.exec.Waits(now, w.cfg.RunTime, maxYields, func(a *exec.Work, end float64) bool {
		late = late || now >= overdueAt(a)
		if a.ID.Task.Job == x.Job && a.Class == x.Class && w.mayYield(a) && (there < end || late) &&
			!slices.Contains(w.barred(a), to) && (!w.own(x.Job) || may(a.ID)) {
			given = a
		}
		return given == nil
	})
	if given == nil {
		return false
	}
	w.refuted = late
	w.handBack(now, given, grid.HandBack{Why: grid.WhyPulled, Puller: to}, fx)
	return true
}
