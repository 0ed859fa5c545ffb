package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
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

type listIn struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	After string `query:"after" doc:"Only jobs older than this one, by its whole ID."`
	State string `query:"state" enum:"pending,running,done,failed,cancelled"`
}

func (s *Server) listJobs(ctx context.Context, in *listIn) (*v1.JobPage, error) {
	var jobs []node.JobView
	if err := s.b.Read(ctx, func(v *node.Node, _ gridTime) { jobs = v.Jobs(nil) }); err != nil {
		return nil, err
	}
	slices.Reverse(jobs)
	c := s.callerOf(ctx)
	if in.After != "" {
		i := slices.IndexFunc(jobs, func(j node.JobView) bool { return j.ID.String() == in.After })
		if i < 0 {
			return nil, huma.Error422UnprocessableEntity("after " + quote(in.After) + ": is no job of this node")
		}
		jobs = jobs[i+1:]
	}
	page := &v1.JobPage{Jobs: []v1.Job{}}
	for i := range jobs {
		if in.State != "" && stateOf(&jobs[i]) != in.State {
			continue
		}
		if len(page.Jobs) == in.Limit {
			page.Next = page.Jobs[in.Limit-1].ID
			break
		}
		page.Jobs = append(page.Jobs, jobOf(&jobs[i], s.mayOpen(&c, jobs[i].ID, jobs[i].Spec.Capability) ||
			s.isSubmitter(&c, jobs[i].Spec), false))
	}
	return page, nil
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
	var found bool
	c := s.callerOf(ctx)
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
		}
	})
	if err != nil {
		return nil, asProblem(err)
	}
	if !found {
		return nil, huma.Error404NotFound("job " + id.String() + ": is not known: it may have been forgotten since")
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
	if err := s.b.Cancel(ctx, id); err != nil {
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

// stateOf returns a job's state.
func stateOf(j *node.JobView) string {
	switch {
	case j.Cancelled:
		return v1.JobCancelled
	case j.Ended < int(j.Spec.Count) && j.Placed+j.Ended == 0:
		return v1.JobPending
	case j.Ended < int(j.Spec.Count):
		return v1.JobRunning
	case j.Failed > 0:
		return v1.JobFailed
	}
	return v1.JobDone
}

// jobOf returns what every member may know of a job; with open also what is run, with spec also the whole spec.
func jobOf(j *node.JobView, open, spec bool) v1.Job {
	out := v1.Job{
		ID: j.ID.String(), Name: j.Spec.Name, Origin: j.ID.Origin.String(), State: stateOf(j),
		Access:  string(j.Spec.Access()),
		Command: []string{}, Submitted: time.Unix(0, j.Submitted).UTC(),
		Count: int(j.Spec.Count), Pending: j.Pending, Placed: j.Placed, Ended: j.Ended, Failed: j.Failed,
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

// moment converts Unix nanoseconds to a time; nil for 0.
func moment(ns int64) *time.Time {
	if ns == 0 {
		return nil
	}
	t := time.Unix(0, ns).UTC()
	return &t
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
