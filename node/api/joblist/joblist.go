package joblist

import (
	"errors"
	"fmt"
	"time"

	"skep/grid"
	"skep/node/api/v1"
	"skep/node/listing"
)

// Scopes of a list.
const (
	Here = "here" // the jobs that were submitted to the node, or that it owns
	Grid = "grid" // those of all nodes
)

// Params are the parameters of a list.
type Params struct {
	Scope string `query:"scope" enum:"here,grid" default:"here" doc:"here: jobs that were submitted to this node, or that it owns; grid: those of all nodes that this one knows, and of nodes that are gone, as far as others keep them."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	After string `query:"after" doc:"Only jobs older than this one, by its whole ID; of this node only."`
	State string `query:"state" doc:"Only jobs in one of these states, with commas between them: pending, running, done, failed, cancelled, held."`
	Name  string `query:"name" doc:"Only jobs whose whole name fits this shell pattern."`
	Since string `query:"since" doc:"Only jobs that were submitted then or later: a time as in RFC 3339."`
	Mine  bool   `query:"mine" doc:"Only jobs that the user who asks has submitted at this node."`
}

// Query returns what is selected; by is who asks.
func (p *Params) Query(by grid.Submitter) (listing.Query, error) {
	q := listing.Query{Limit: p.Limit, Name: p.Name}
	var err error
	if q.States, err = listing.ParseStates(p.State); err != nil {
		return q, fmt.Errorf("state %w", err)
	}
	if p.Since != "" {
		t, err := time.Parse(time.RFC3339, p.Since)
		if err != nil || t.Unix() < 0 || t.Year() > 2261 {
			return q, fmt.Errorf("since %.40q: want a time of 1970 to 2261, as in 2026-11-27T14:00:00Z", p.Since)
		}
		q.Since = t.UnixNano()
	}
	if p.Mine {
		q.Submitter = by
	}
	if p.Scope == Grid && p.After != "" {
		return q, errors.New("after: pages are of this node's own jobs: want none with scope=grid")
	}
	return q, q.Check()
}

// Job returns a job as every member may see it.
func Job(e *listing.Entry, self grid.NodeID) v1.ListedJob {
	r := e.Row.Public()
	j := v1.ListedJob{OriginName: r.OriginName, Job: v1.Job{
		ID: r.ID.String(), Name: r.Name, Class: r.Class, Origin: r.ID.Origin.String(), State: r.State().String(),
		Access: string(r.Access), Command: []string{}, Submitted: moment(r.Submitted), Count: r.Count,
		Placed: r.Placed, Ended: r.Ended, Exit: r.Exit, Behind: e.Behind,
		JobTasks:    v1.JobTasks{Pending: r.Pending, Queued: r.Placed - r.Running, Running: r.Running},
		JobFailures: v1.JobFailures{Failed: r.Failed, Retried: r.Retried, Stopped: r.Stopped},
	}}
	if e.By != self {
		j.ToldBy = e.By.String()
	}
	if by := r.Submitter; !by.Node.IsZero() {
		j.Submitter = &v1.Submitter{Node: by.Node.String(), User: by.User}
	}
	if r.Done > 0 {
		t := moment(r.Done)
		j.Done = &t
	}
	for _, m := range r.Members {
		j.Members = append(j.Members, m.String())
	}
	if !r.Owner.IsZero() {
		j.Owner = r.Owner.String()
	}
	if r.Since > 0 {
		t := moment(r.Since)
		j.Since = &t
	}
	return j
}

func moment(ns int64) time.Time { return time.Unix(0, ns).UTC() }
