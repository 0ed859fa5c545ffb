package sim

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/internal/indices"
	"skep/sim/event"
	"skep/sim/oracle"
)

// agenda is what is still to happen to a world.
type agenda struct {
	grace          grid.Time // when the grace of the last takeover ends that is an aftermath of faults
	nextSubmission int       // index into Config.Work
	nextFault      int
	leaving        int       // nodes that announced to leave and have not stopped
	asksLeft       int       // requests about single tasks that are still to be made
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
		if s.CancelTask > 0 {
			w.askLater(s, s.CancelTask, kindCancelTask)
		}
		if s.RetryTask > 0 {
			w.askLater(s, s.RetryTask, kindRetryTask)
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
		i = w.believedOwner(int32(e.Arg), s.Node)
		if again := w.now.Add(cancelRetryEvery); again <= grid.Time(s.Cancel+cancelRetryFor) {
			w.push(again, kindCancel, e.Node, 0, e.Arg)
		}
	}
	if j.Confirmed && !j.CancelAnswered && i >= 0 && w.hosts[i].up {
		w.ev = grid.Event{Kind: grid.EvCancel, Caller: e.Arg + 1 + oracle.CancelCaller, Job: w.jobID(int32(e.Arg))}
		w.books.Asked(i, w.ev.Caller)
		w.step(i, &w.ev)
	}
}

// askLater schedules a request about a task of the next submission.
func (w *World) askLater(s *Submission, at time.Duration, k event.Kind) {
	w.asksLeft++
	w.push(max(w.now, grid.Time(at)), k, int32(s.Node), 0, uint64(w.nextSubmission))
}

// askAboutTask cancels a task of a submission, or has it run again, at the node that is believed to own the job. Of a
// job that is over any of those that keep it is asked for a retry.
func (w *World) askAboutTask(e *event.Event) {
	w.asksLeft--
	n, j, from := int32(e.Arg), w.books.Job(int(e.Arg)), int(e.Node)
	if e.Kind == kindRetryTask {
		if again := w.now.Add(retryAgain); again <= grid.Time(w.cfg.Work[n].RetryUntil) {
			w.asksLeft++
			w.push(again, kindRetryTask, e.Node, 0, e.Arg)
		}
		from = int(splitmix(e.Arg) % uint64(len(w.hosts)))
	}
	i := w.believedOwner(n, from)
	if !j.Confirmed || i < 0 || !w.hosts[i].up {
		return
	}
	index := uint32(splitmix(e.Arg+uint64(w.now)) % uint64(w.cfg.Work[n].Spec.Count))
	ask, caller := grid.EvCancel, uint64(oracle.CancelTaskCaller)
	if e.Kind == kindRetryTask {
		ask, caller = grid.EvRetry, oracle.RetryCaller
	}
	w.ev = grid.Event{Kind: ask, Caller: caller + uint64(index)<<oracle.TaskShift + e.Arg + 1, Job: w.jobID(n),
		Tasks: indices.Set{{First: index, Last: index, Step: 1}}}
	w.books.Asked(i, w.ev.Caller)
	w.step(i, &w.ev)
}

// How often a client asks again that insists, and for how long.
const (
	cancelRetryEvery = 5 * time.Second
	cancelRetryFor   = 2 * time.Minute
	retryAgain       = 15 * time.Second
)

// believedOwner returns the node that owns a submission, as far as the first node from there on knows that is up and
// knows anything; -1 if none is.
func (w *World) believedOwner(n int32, from int) int32 {
	for k := range w.hosts {
		h := &w.hosts[(from+k)%len(w.hosts)]
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
	origin := int32(w.cfg.Work[s].Node)
	if !w.hosts[origin].up {
		return
	}
	w.specify(s)
	spec := w.cfg.Work[s].Spec
	for _, f := range spec.Inputs {
		w.putBlob(origin, f.Blob)
	}
	w.books.Hindsight().Submitted(w.now, s)
	w.books.Submits(s)
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

// specify adds to a submission what it waits for, once: which members keep those jobs is known only now.
func (w *World) specify(n int32) {
	s := &w.cfg.Work[n]
	if len(s.After) == 0 {
		return
	}
	spec := *s.Spec
	spec.After = grid.After{}
	for _, x := range s.After {
		j := w.books.Job(x.On)
		if !j.Confirmed {
			continue
		}
		spec.After.Jobs = append(spec.After.Jobs, grid.Dependency{Job: w.jobID(int32(x.On)), Kind: x.Kind,
			Members: slices.Clone(j.Members)})
		if x.Path != "" {
			spec.After.Inputs = append(spec.After.Inputs, grid.JobInput{Of: uint32(len(spec.After.Jobs) - 1), Path: x.Path,
				To: fmt.Sprintf("left/%d", x.On)})
			spec.Needs.Labels = slices.Clone(spec.Needs.Labels)
			spec.Needs.AddFeature(grid.JobInputsLabel)
		}
	}
	s.Spec, s.After = &spec, nil
	w.books.Specify(n, &spec)
}
