package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	"skep/node/api/joblist"
	v1 "skep/node/api/v1"
	"skep/node/listing"
	p2pjobs "skep/node/p2p/joblist"
)

type gridTime = grid.Time

// own admits a member's request only if it is for a job of this node, named by its whole ID, and the member may
// make it.
func (s *Server) own(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, rest, ok := jobPath(r.URL.Path); ok {
			id, err := grid.ParseJobID(text)
			if err != nil {
				problem(w, http.StatusNotFound,
					"job "+quote(text)+": node "+s.self.Short()+" tells other nodes of jobs by their whole IDs only")
				return
			}
			k, err := s.jobInfo(r.Context(), id)
			switch {
			case err != nil:
				fail(w, err)
				return
			case id.Origin != s.self && !k.here:
				problem(w, http.StatusNotFound, "job "+quote(text)+": was not submitted to node "+s.self.Short())
				return
			case !s.admit(w, r, id, rest, &k):
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// listJobs lists jobs of this node, or of the grid.
func (s *Server) listJobs(ctx context.Context, in *joblist.Params) (*v1.JobPage, error) {
	c := s.callerOf(ctx)
	q, err := in.Query(grid.Submitter{Node: s.self, User: c.user})
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	page := &v1.JobPage{Jobs: []v1.ListedJob{}}
	if in.Scope == joblist.Grid {
		return page, s.listGrid(ctx, &c, &q, page)
	}
	var jobs []node.JobView
	var name names
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) { jobs, name = v.Jobs(nil), namesOf(v, now) })
	if err != nil {
		return nil, err
	}
	slices.Reverse(jobs)
	if in.After != "" {
		i := slices.IndexFunc(jobs, func(j node.JobView) bool { return j.ID.String() == in.After })
		if i < 0 {
			return nil, huma.Error422UnprocessableEntity("after " + quote(in.After) + ": is no job of this node")
		}
		jobs = jobs[i+1:]
	}
	for i := range jobs {
		if row := p2pjobs.RowOf(&jobs[i], true); !q.Tells(&row) {
			continue
		}
		if len(page.Jobs) == q.Limit {
			page.Next = page.Jobs[q.Limit-1].ID
			break
		}
		page.Jobs = append(page.Jobs, v1.ListedJob{Job: s.listed(&c, &jobs[i]), OriginName: name[jobs[i].ID.Origin]})
	}
	return page, nil
}

// listed returns a job that is known here as a caller may see it in a list.
func (s *Server) listed(c *caller, j *node.JobView) v1.Job {
	return jobOf(j, s.mayOpen(c, j.ID, j.Spec.Capability) || s.isSubmitter(c, j.Spec), false)
}

// listGrid adds the jobs of the grid to a page.
func (s *Server) listGrid(ctx context.Context, c *caller, q *listing.Query, page *v1.JobPage) error {
	r, err := s.b.Jobs(ctx, q)
	if err != nil {
		return backendError(ctx, err)
	}
	page.More, page.Asked = r.More, r.Asked
	for _, n := range r.Silent {
		page.Silent = append(page.Silent, n.String())
	}
	return s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		for i := range r.Jobs {
			e := &r.Jobs[i]
			j := joblist.Job(e, s.self)
			if known, ok := v.Job(e.ID); ok {
				own := s.listed(c, &known)
				if j.Command = own.Command; e.By == s.self {
					j.Job, j.Behind = own, e.Behind
				}
			}
			page.Jobs = append(page.Jobs, j)
		}
	})
}

func (s *Server) getJob(ctx context.Context, in *Ref) (*v1.Job, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	return s.job(ctx, id, true)
}

// job returns a job of this node as the caller may see it, with its spec if that is requested.
func (s *Server) job(ctx context.Context, id grid.JobID, spec bool) (*v1.Job, error) {
	var j v1.Job
	found, why, c := false, "", s.callerOf(ctx)
	err := s.b.Read(ctx, func(v *node.Node, now gridTime) {
		var jv node.JobView
		if jv, found = v.Job(id); found {
			open := s.mayOpen(&c, id, jv.Spec.Capability)
			j = jobOf(&jv, open, open && spec)
			if jv.Ended < int(jv.Spec.Count) && v.AwaitsMajority(now, id) {
				j.Waits = "for a majority of the nodes that keep it"
			}
			j.Behind = len(jv.Members) > 0 && jv.Ended < int(jv.Spec.Count) && !v.MayAct(now, id)
			if open {
				j.Note = noteOf(v.Underreplicated(&jv), jv.InputsAtRisk)
			}
		} else {
			why = v.Gone(id)
		}
	})
	if err != nil {
		return nil, asProblem(err)
	}
	if !found {
		return nil, gone(id, why)
	}
	return &j, nil
}

func (s *Server) cancelJob(ctx context.Context, in *Ref) (*v1.Job, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if _, err := s.job(ctx, id, false); err != nil {
		return nil, err
	}
	if err := s.b.Cancel(ctx, id, nil); err != nil {
		return nil, backendError(ctx, err)
	}
	return s.job(ctx, id, false)
}

type waitIn struct {
	Ref
	Timeout float64 `query:"timeout" minimum:"0" maximum:"60" default:"60" doc:"Seconds."`
}

func (s *Server) waitJob(ctx context.Context, in *waitIn) (*v1.Job, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	change, unwatch := s.b.Watch(id)
	defer unwatch()
	end := time.NewTimer(min(grid.Seconds(in.Timeout), maxWait))
	defer end.Stop()
	for {
		j, err := s.job(ctx, id, false)
		if err != nil || j.Over() {
			return j, err
		}
		select {
		case <-change:
		case <-end.C:
			return j, nil
		case <-s.stop:
			return j, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// noteOf joins the notes for a job's submitter.
func noteOf(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// jobOf returns what every member may know of a job; with open also what is run, with spec also the whole spec.
func jobOf(j *node.JobView, open, spec bool) v1.Job {
	out := v1.Job{
		ID: j.ID.String(), Name: j.Spec.Name, Origin: j.ID.Origin.String(), State: stateOf(j).String(),
		Access:  string(j.Spec.Access()),
		Command: []string{}, Submitted: time.Unix(0, j.Submitted).UTC(),
		Count: int(j.Spec.Count), Placed: j.Placed, Ended: j.Ended,
		JobTasks: v1.JobTasks{Pending: j.Pending, Queued: j.Placed - j.Running, Running: j.Running},
		JobFailures: v1.JobFailures{Failed: j.Failed, Retried: j.Retried, Stopped: j.Stopped, Missed: j.Missed,
			Unaffordable: j.Unaffordable},
	}
	if by := j.Spec.Submitter; !by.Node.IsZero() {
		out.Submitter = &v1.Submitter{Node: by.Node.String(), User: by.User}
	}
	if !open {
		return out
	}
	out.Class, out.Command, out.Done, out.Exit = j.Class, j.Spec.Command, moment(j.Done), j.Exit
	for _, m := range j.Members {
		out.Members = append(out.Members, m.String())
	}
	if len(j.Members) > 0 {
		out.Owner, out.Since = j.Owner.String(), moment(j.Since)
	}
	if spec {
		out.Spec = v1.SpecOf(j.Spec)
	}
	return out
}

// stateOf returns a job's state.
func stateOf(j *node.JobView) listing.State {
	c := listing.Counts{Count: int(j.Spec.Count), Placed: j.Placed, Ended: j.Ended, Failed: j.Failed,
		Held: j.Held}
	return c.State(j.Cancelled)
}

// moment converts Unix nanoseconds to a time; nil for 0.
func moment(ns int64) *time.Time {
	if ns == 0 {
		return nil
	}
	t := time.Unix(0, ns).UTC()
	return &t
}
