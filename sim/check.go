package sim

import (
	"skep/grid"
)

// checkSave checks a record that becomes durable.
func (w *World) checkSave(i int32, r *grid.Record) {
	switch r.Kind {
	case grid.RecJob:
		if r.Job.ID.Origin != w.hosts[i].id {
			w.failf(i, "saves job %v, which was submitted elsewhere", r.Job.ID)
		}
		if n := w.job(i, r.Job.ID); n >= 0 && !r.Delete && r.Job.Spec != w.cfg.Work[n].Spec {
			w.failf(i, "saves submission %d as something else than was submitted", n)
		}
	case grid.RecTask:
		w.checkTask(i, r)
	case grid.RecWork:
		w.checkWork(i, r)
	case grid.RecRegister:
		w.checkRegister(i, r)
	case grid.RecClass, grid.RecEntry:
	default:
		w.failf(i, "saves a record of unknown kind %d", r.Kind)
	}
}

// checkTask checks a task's record: only its origin saves it, its attempt never goes back, and an ended task does not
// change.
func (w *World) checkTask(i int32, r *grid.Record) {
	k := w.task(i, r.Task.ID.Task)
	if k < 0 {
		return
	}
	t := &w.tasks[k]
	j := &w.jobs[t.job]
	if j.origin != i || !j.saved && !r.Delete {
		w.failf(i, "saves %s, whose job it has not saved", w.taskName(k))
		return
	}
	switch {
	case r.Delete:
		return
	case t.state == grid.Ended && r.Task.State == grid.Ended:
		w.failf(i, "records the end of %s twice, attempts %v and %v", w.taskName(k), t.last, r.Task.ID.Attempt)
	case t.state == grid.Ended:
		w.failf(i, "changes the record of %s, which has ended, to %v", w.taskName(k), r.Task.State)
	case r.Task.ID.Attempt.Less(t.last):
		w.failf(i, "goes back in %s from attempt %v to %v", w.taskName(k), t.last, r.Task.ID.Attempt)
	}
	w.checkBackup(i, k, &r.Task)
	t.state, t.last, t.worker, t.result = r.Task.State, r.Task.ID.Attempt, w.index(r.Task.Worker), r.Task.Result.Brief()
	t.lost, t.placed, t.began, t.done = r.Task.Lost, r.Task.Placed, r.Task.Began, r.Task.Done
	if t.state == grid.Ended {
		if r.Task.Result == nil {
			w.failf(i, "records the end of %s without a result", w.taskName(k))
		}
		t.ended = w.now
		if w.settled && w.mustEnd(j) {
			w.tasksLeft--
		}
	}
}

// checkWork checks the record of an accepted attempt: one node accepts an attempt, ever.
func (w *World) checkWork(i int32, r *grid.Record) {
	k := w.task(i, r.Work.ID.Task)
	if k < 0 || r.Delete {
		return
	}
	t, a := &w.tasks[k], r.Work.ID.Attempt
	if r.Work.State == grid.WorkFinished && r.Work.Result != nil && r.Work.Result.Cause.Refused() {
		w.annul(k, a)
	}
	w.checkAcceptance(i, k, a)
	switch {
	case t.acceptedBy < 0 || t.accepted.Less(a):
		t.acceptedBy, t.accepted = i, a
	case t.accepted == a && t.acceptedBy != i:
		w.failf(i, "accepts attempt %v of %s, which n%d has accepted", a, w.taskName(k), t.acceptedBy)
	}
}

// annul marks an attempt as refused or lost: its result ends nothing and need not be recorded.
func (w *World) annul(k int32, a grid.Attempt) {
	if w.annulled == nil {
		w.annulled = make(map[taskAttempt]bool)
	}
	w.annulled[taskAttempt{k, a}] = true
}

// checkStart checks a start and reports whether it can be carried out.
func (w *World) checkStart(i, k int32, s *grid.Start) bool {
	t, h := &w.tasks[k], &w.hosts[i]
	for r := t.runs; r >= 0; r = w.runs[r].nextOfTask {
		if w.runs[r].id == s.Attempt {
			w.failf(i, "starts attempt %v of %s, which runs on n%d", s.Attempt.Attempt, w.taskName(k), w.runs[r].node)
			return false
		}
	}
	if a := s.Attempt.Attempt; t.accepted.Less(a) || t.accepted == a && t.acceptedBy != i { // its record may be deleted already
		w.failf(i, "starts attempt %v of %s, which is not on its disk", s.Attempt.Attempt, w.taskName(k))
	}
	if used := h.used.Plus(s.Spec.Needs.Resources); !h.cap.Fits(used) {
		w.failf(i, "starts attempt %v of %s and so uses %v of %v", s.Attempt.Attempt, w.taskName(k), used, h.cap)
	}
	if w.jobs[t.job].cancelAnswered {
		w.failf(i, "starts attempt %v of %s, and who cancelled it was told that nothing of it starts any more", s.Attempt.Attempt, w.taskName(k))
	}
	if s.Spec.Retries == 0 && t.starts > 0 {
		w.failf(i, "starts %s again, attempt %v, which must run at most once", w.taskName(k), s.Attempt.Attempt)
	}
	return w.fail == nil
}

// checkSend checks that what a message states is durable: an accept, the acknowledgement of a result.
func (w *World) checkSend(i int32, s *grid.Send) {
	w.checkAd(i, s.Msg.Digest)
	switch s.Msg.Kind {
	case grid.KindAccept, grid.KindResult, grid.KindResultAck:
	default:
		return
	}
	for _, a := range s.Msg.Attempts {
		k := w.task(i, a.Task)
		if k < 0 {
			return
		}
		t := &w.tasks[k]
		switch s.Msg.Kind {
		case grid.KindAccept:
			if t.acceptedBy != i && t.accepted == a.Attempt || t.accepted.Less(a.Attempt) {
				w.failf(i, "accepts attempt %v of %s, which is not on its disk", a.Attempt, w.taskName(k))
			}
		case grid.KindResult:
			if c := s.Msg.Result.Cause; c == grid.Lost || c.Refused() {
				w.annul(k, a.Attempt)
			}
		case grid.KindResultAck:
			m := w.members(&w.jobs[t.job])
			durable := t.state == grid.Ended || m != nil && w.countHolders(t.job, a) > len(m)/2 // the final state may not be on the disk yet
			if (t.last == a.Attempt || w.isBackup(k, a.Attempt) || m != nil) && !durable && !w.annulled[taskAttempt{k, a.Attempt}] {
				w.failf(i, "acknowledges the result of attempt %v of %s, which is not on its disk", a.Attempt, w.taskName(k))
			}
		}
	}
}

// checkAd checks a node's own ad once, as the drivers that sign and read it do; they refuse an invalid one. An own ad
// comes first in a digest.
func (w *World) checkAd(i int32, digest []grid.AdEntry) {
	h := &w.hosts[i]
	if len(digest) == 0 || digest[0].Ad == nil || digest[0].Ad == h.checkedAd || digest[0].Ad.Node != h.id {
		return
	}
	h.checkedAd = digest[0].Ad
	if err := h.checkedAd.Check(); err != nil {
		w.failf(i, "says of itself what cannot be: %v", err)
	}
}

// checkViews checks a node's own views: jobs and stats.
func (w *World) checkViews(i int32) {
	h := &w.hosts[i]
	w.views = h.member.Jobs(w.views[:0])
	for k := range w.views {
		v := &w.views[k]
		if v.Pending < 0 || v.Placed < 0 || v.Ended < 0 || v.Pending+v.Placed+v.Ended != int(v.Spec.Count) || v.Failed > v.Ended {
			w.failf(i, "says of job %s: %d pending + %d placed + %d ended (%d failed) of %d tasks",
				v.ID.Short(), v.Pending, v.Placed, v.Ended, v.Failed, v.Spec.Count)
		}
		w.checkReportedJob(i, v)
	}
	s := h.member.Stats(w.local(i))
	if s.Free.CPU < 0 || s.Free.Memory < 0 || !h.cap.Fits(s.Free) || s.Queued < 0 || s.Running < 0 || s.Pending < 0 || s.Backlog < 0 {
		w.failf(i, "says that it has %v free of %v, %d queued, %d running, %d pending, a backlog of %v",
			s.Free, h.cap, s.Queued, s.Running, s.Pending, s.Backlog)
	}
}

// audit checks the final state: by the nodes' own views nothing is left.
func (w *World) audit() {
	for i := range w.hosts {
		h := &w.hosts[i]
		if !h.up || h.hostile != 0 {
			continue
		}
		w.checkViews(int32(i))
		waiting := 0 // tasks of jobs that cannot continue: the view must say so
		for k := range w.views {
			switch v := &w.views[k]; {
			case v.Ended == int(v.Spec.Count):
			case v.InputsAtRisk != "" && !w.jobMustEnd(int32(i), v.ID): // its inputs are lost with an origin that never acknowledged it
				waiting += v.Pending
			case w.majorityUp(v.Members) || !w.awaitsMajority(int32(i), v.ID):
				w.failf(int32(i), "says that job %s has %d of %d tasks ended, and all have", v.ID.Short(), v.Ended, v.Spec.Count)
			default:
				waiting += v.Pending
			}
		}
		if s := h.member.Stats(w.local(int32(i))); s.Queued > w.orphaned(int32(i)) || s.Running != 0 || s.Pending > waiting {
			w.failf(int32(i), "says that %d attempts are queued, %d run and %d tasks are pending, and all has ended", s.Queued, s.Running, s.Pending)
		}
	}
}

func (w *World) jobMustEnd(i int32, id grid.JobID) bool {
	n := w.job(i, id)
	return n >= 0 && w.mustEnd(&w.jobs[n])
}

// awaitsMajority reports whether a client that asks node i about a job is told that it waits for a majority of its
// register. The node forwards the question to the owner that it knows, if that one is connected.
func (w *World) awaitsMajority(i int32, id grid.JobID) bool {
	type ownerView interface {
		Authority(grid.JobID) (who grid.NodeID, since int64, known bool)
		AwaitsMajority(grid.Time, grid.JobID) bool
	}
	m, ok := w.hosts[i].member.(ownerView)
	if !ok {
		return false
	}
	if who, _, known := m.Authority(id); known {
		i = w.index(who)
	}
	m, ok = w.hosts[i].member.(ownerView)
	return ok && w.hosts[i].up && m.AwaitsMajority(w.local(i), id)
}

// orphaned counts the attempts that a node keeps for jobs whose only record, or the majority of whose register, is
// lost for good: queued ones are kept for a while in case it comes back.
func (w *World) orphaned(i int32) int {
	n := 0
	for at := w.hosts[i].disk.workChain; at != 0; at = w.workRecords[at-1].nodeChain[1] {
		if j := &w.jobs[w.tasks[w.workRecords[at-1].task].job]; j.register == 0 && w.hosts[j.origin].lost || j.register != 0 && !w.majorityUp(w.members(j)) {
			n++
		}
	}
	return n
}
