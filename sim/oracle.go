package sim

import (
	"fmt"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
)

// oracle is the world's own record of every job and task, which the checks compare nodes with. By index, without maps.
type oracle struct {
	jobs           []job
	tasks          []task
	classes        []string        // of the submissions, in order of first use
	registers      [][]grid.NodeID // members, of the submissions that have a register
	workRecords    []workRecord
	annulled       map[taskAttempt]bool // attempts whose result ends nothing; allocated on first use
	backups        backups
	freeRecord     int32 // free list of workRecords, from 1
	nextSubmission int   // index into Config.Work
	nextFault      int
	leaving        int  // nodes that announced to leave and have not stopped
	settled        bool // all submissions and faults have happened
	tasksLeft      int  // tasks that must end and have not; known once settled
	recordsLeft    int  // work records that must be deleted: on nodes that are up, of jobs that must end; known once settled
	deadline       grid.Time
	views          []node.JobView // scratch
}

// submitNext makes the submissions that are due.
func (w *World) submitNext() {
	work := w.cfg.Work
	for w.nextSubmission < len(work) && grid.Time(work[w.nextSubmission].At) <= w.now {
		if s := work[w.nextSubmission]; s.Cancel > 0 {
			w.push(max(w.now, grid.Time(s.Cancel)), kindCancel, int32(s.Node), 0, uint64(w.nextSubmission))
		}
		w.nextSubmission++
		w.submit(int32(w.nextSubmission - 1))
	}
	if w.nextSubmission < len(work) {
		w.push(grid.Time(work[w.nextSubmission].At), kindSubmit, 0, 0, 0)
	}
}

// cancel cancels a submission that its node has confirmed.
func (w *World) cancel(e *Event) {
	j, i := &w.jobs[e.Arg], w.jobs[e.Arg].origin
	if s := &w.cfg.Work[e.Arg]; s.RetryCancel && !j.cancelAnswered {
		i = w.believedOwner(int32(e.Arg))
		if again := w.now.Add(cancelRetryEvery); again <= grid.Time(s.Cancel+cancelRetryFor) {
			w.push(again, kindCancel, e.Node, 0, e.Arg)
		}
	}
	if j.confirmed && !j.cancelAnswered && i >= 0 && w.hosts[i].up {
		w.ev = grid.Event{Kind: grid.EvCancel, Caller: e.Arg + 1 + cancelCaller, Job: w.jobID(int32(e.Arg))}
		w.step(i, &w.ev)
	}
}

// How often a client asks again that insists, and for how long.
const (
	cancelRetryEvery = 5 * time.Second
	cancelRetryFor   = 2 * time.Minute
)

// believedOwner returns the node that owns a submission, as far as its origin knows, or any other node that is up; -1
// if none is.
func (w *World) believedOwner(n int32) int32 {
	for k := range w.hosts {
		h := &w.hosts[(int(w.jobs[n].origin)+k)%len(w.hosts)]
		if m, ok := h.member.(interface {
			Authority(grid.JobID) (grid.NodeID, int64, bool)
		}); ok && h.up {
			if who, _, known := m.Authority(w.jobID(n)); known && w.hosts[w.index(who)].up {
				return w.index(who)
			}
		}
	}
	return -1
}

// cancelCaller is added to a caller's number when it cancels.
const cancelCaller = 1 << 40

// reply handles a node's answer to a client.
func (w *World) reply(i int32, r *grid.Reply) {
	cancels := r.Caller > cancelCaller
	n := int(r.Caller&(cancelCaller-1)) - 1
	if n < 0 || n >= len(w.jobs) || w.jobs[n].origin != i && !cancels {
		w.failf(i, "answers caller %d, who asked nothing here", r.Caller)
		return
	}
	j, h := &w.jobs[n], &w.hosts[i]
	if cancels {
		j.cancelAnswered = j.cancelAnswered || r.Err == ""
		return
	}
	if r.Err == "" && j.register != 0 && !w.majorityHolds(int32(n)) {
		w.failf(i, "says that it has taken submission %d, which no majority of its members holds", n)
	}
	if r.Err == "" && j.register == 0 && !j.saved {
		w.failf(i, "says that it has taken submission %d, of which nothing is on its disk", n)
	}
	for k, s := range h.unanswered {
		if int(s) == n {
			h.unanswered = append(h.unanswered[:k], h.unanswered[k+1:]...)
			break
		}
	}
	if r.Err != "" && !j.confirmed && !j.rejected && j.register == 0 { // a job with members may still run, and must end
		if w.settled && w.mustEnd(j) {
			for k := range j.count {
				if w.tasks[j.first+k].state != grid.Ended {
					w.tasksLeft--
				}
			}
		}
		j.rejected = true
	}
	j.confirmed = j.confirmed || r.Err == ""
}

// done reports whether all submissions and faults have happened and everything that must end has ended.
func (w *World) done() bool {
	if !w.settled {
		if w.nextSubmission < len(w.jobs) || w.nextFault < len(w.cfg.Faults) || w.leaving > 0 {
			return false
		}
		w.countRemaining()
	}
	if w.tasksLeft == 0 && w.recordsLeft == 0 && w.running == 0 {
		return true
	}
	if w.now > w.deadline {
		w.failf(-1, "%v after the last fault and submission %s", w.cfg.Bound, w.unfinished())
		return true
	}
	return false
}

// countRemaining counts what must end from now on. A node that is down now stays down: its jobs need not end.
func (w *World) countRemaining() {
	w.settled = true
	w.deadline = w.now.Add(w.cfg.Bound)
	for i := range w.hosts {
		h := &w.hosts[i]
		for at := h.disk.workChain; at != 0; at = w.workRecords[at-1].nodeChain[1] {
			if h.up && w.mustEnd(&w.jobs[w.tasks[w.workRecords[at-1].task].job]) {
				w.recordsLeft++
			}
		}
	}
	for i := range w.jobs {
		if !w.mustEnd(&w.jobs[i]) {
			continue
		}
		for k := range w.jobs[i].count {
			if w.tasks[w.jobs[i].first+k].state != grid.Ended {
				w.tasksLeft++
			}
		}
	}
}

func (w *World) mustEnd(j *job) bool {
	h := &w.hosts[j.origin]
	if j.register != 0 {
		return !j.rejected && w.majorityUp(w.members(j)) && (j.confirmed || h.up)
	}
	return !j.rejected && !h.lost && (h.up || h.boots == 0)
}

// unfinished describes what has not ended.
func (w *World) unfinished() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks have not ended, %d run, %d work records are kept", w.tasksLeft, w.running, w.recordsLeft)
	shown := 0
	for k := range w.tasks {
		t := &w.tasks[k]
		if t.state == grid.Ended || !w.mustEnd(&w.jobs[t.job]) || shown == 5 {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n  %s: on disk %v, attempt %v, worker n%d; last accepted %v by n%d; started %d times",
			w.taskName(int32(k)), t.state, t.last, t.worker, t.accepted, t.acceptedBy, t.starts)
		b.WriteString(w.waitReason(t, uint32(int32(k)-w.jobs[t.job].first)))
		for r := t.runs; r >= 0; r = w.runs[r].nextOfTask {
			fmt.Fprintf(&b, "; %v runs on n%d", w.runs[r].id.Attempt, w.runs[r].node)
		}
	}
	for i := range w.hosts {
		if h := &w.hosts[i]; h.up && h.disk.workCount > 0 && shown < 10 {
			shown++
			fmt.Fprintf(&b, "\n  n%d keeps %d work records", i, h.disk.workCount)
		}
	}
	return b.String()
}

// waitReason returns why a task waits, if its origin knows.
func (w *World) waitReason(t *task, index uint32) string {
	j := &w.jobs[t.job]
	m, ok := w.hosts[j.origin].member.(interface {
		Task(grid.TaskID) (node.TaskView, bool)
	})
	if !ok {
		return ""
	}
	v, _ := m.Task(grid.TaskID{Job: w.jobID(t.job), Index: index})
	s := "; there " + v.State.String()
	if v.Waits.Why != grid.WhyNone {
		s += ", waits: " + strings.TrimSpace(v.Waits.Why.String()+" "+v.Waits.Detail)
	}
	return s
}
