package sim

import (
	"slices"
	"time"

	"skep/grid"
	"skep/sim/event"
	"skep/sim/oracle"
)

// agenda is what is still to happen to a world.
type agenda struct {
	nextSubmission int // index into Config.Work
	nextFault      int
	leaving        int       // nodes that announced to leave and have not stopped
	settled        bool      // all submissions and faults have happened
	deadline       grid.Time // by which everything must have ended; known once settled
	resubmit       []int32   // scratch
}

// submitNext makes the submissions that are due.
func (w *World) submitNext() {
	work := w.cfg.Work
	for w.nextSubmission < len(work) && grid.Time(work[w.nextSubmission].At) <= w.now {
		s := &work[w.nextSubmission]
		if s.Cancel > 0 {
			w.push(max(w.now, grid.Time(s.Cancel)), kindCancel, int32(s.Node), 0, uint64(w.nextSubmission))
		}
		w.nextSubmission++
		n := int32(w.nextSubmission - 1)
		h := &w.hosts[s.Node]
		h.unanswered = append(h.unanswered, n)
		w.submit(n)
	}
	if w.nextSubmission < len(work) {
		w.push(grid.Time(work[w.nextSubmission].At), kindSubmit, 0, 0, 0)
	}
}

// cancel cancels a submission that its node has confirmed.
func (w *World) cancel(e *event.Event) {
	s, j := &w.cfg.Work[e.Arg], w.books.Job(int(e.Arg))
	i := int32(s.Node)
	if s.RetryCancel && !j.CancelAnswered {
		i = w.believedOwner(int32(e.Arg))
		if again := w.now.Add(cancelRetryEvery); again <= grid.Time(s.Cancel+cancelRetryFor) {
			w.push(again, kindCancel, e.Node, 0, e.Arg)
		}
	}
	if j.Confirmed && !j.CancelAnswered && i >= 0 && w.hosts[i].up {
		w.ev = grid.Event{Kind: grid.EvCancel, Caller: e.Arg + 1 + oracle.CancelCaller, Job: w.jobID(int32(e.Arg))}
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
		h := &w.hosts[(int(w.cfg.Work[n].Node)+k)%len(w.hosts)]
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

// submit hands a submission to its node, now or when the node is up.
func (w *World) submit(s int32) {
	spec, origin := w.cfg.Work[s].Spec, int32(w.cfg.Work[s].Node)
	if !w.hosts[origin].up {
		return
	}
	for _, f := range spec.Inputs {
		w.putBlob(origin, f.Blob)
	}
	w.books.Hindsight().Submitted(w.now, s)
	w.ev = grid.Event{Kind: grid.EvSubmit, Caller: uint64(s) + 1, Job: w.jobID(s), Spec: spec}
	w.step(origin, &w.ev)
}

// reply handles a node's answer to a client.
func (w *World) reply(i int32, r *grid.Reply) {
	h, n := &w.hosts[i], w.books.Answer(i, r)
	if k := slices.Index(h.unanswered, n); k >= 0 {
		h.unanswered = slices.Delete(h.unanswered, k, k+1)
	}
}

// JobID returns the identity of a submission.
func (w *World) JobID(submission int) grid.JobID { return w.jobID(int32(submission)) }

func (w *World) jobID(n int32) grid.JobID {
	return submissionID(w.hosts[w.cfg.Work[n].Node].id, int(n))
}
