package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	"skep/node/listing"
)

// Bounds of finding a job by a part of its ID.
const (
	minPrefix  = listing.MinPrefix // characters, of a node's ID too
	maxMatches = 16
	newest     = "last"
)

// resolve returns the job that a person's reference names. Jobs that are known at this node come first; only where none
// of them fits, the other nodes are asked. A beginning of an ID wins over a name.
func (s *Server) resolve(ctx context.Context, text string) (grid.JobID, error) {
	if id, err := grid.ParseJobID(text); err == nil {
		return id, nil
	}
	if text == newest {
		return s.newest(ctx)
	}
	if text == "" || len(text) > grid.MaxName || !grid.Printable(text) {
		return grid.JobID{}, huma.Error422UnprocessableEntity(fmt.Sprintf("job %+.80q: want an ID, %d or more characters "+
			"of its beginning, a job's name, or %s", text, listing.MinPrefix, newest))
	}
	found, err := s.ownMatches(ctx, text)
	if err != nil {
		return grid.JobID{}, asProblem(err)
	}
	silent := 0
	if len(found) == 0 {
		r, err := s.b.Jobs(ctx, &listing.Query{Limit: maxMatches + 1, Ref: text})
		if err != nil {
			return grid.JobID{}, backendError(ctx, err)
		}
		silent = len(r.Silent)
		for i := range r.Jobs {
			e := &r.Jobs[i]
			found = append(found, match{id: e.ID, name: e.Name, what: e.State().String(), at: e.OriginName})
		}
	}
	if prefixed := slices.DeleteFunc(slices.Clone(found), func(m match) bool {
		return !listing.IsPrefix(text, m.id)
	}); len(prefixed) > 0 {
		found = prefixed
	}
	if len(found) == 1 {
		return found[0].id, nil
	}
	if len(found) == 0 {
		if err := s.goneAs(ctx, text); err != nil {
			return grid.JobID{}, err
		}
	}
	return grid.JobID{}, notOne(text, found, silent)
}

// goneAs returns an error that says why the job has gone that a reference named; nil = nothing is known of that.
func (s *Server) goneAs(ctx context.Context, text string) (problem error) {
	err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		if id, why := v.GoneAs(func(id grid.JobID, name string) bool {
			return name == text || listing.IsPrefix(text, id)
		}); why != "" {
			problem = gone(id, why)
		}
	})
	return cmp.Or(asProblem(err), problem)
}

// notOne is the error of a reference that names no job, or several.
func notOne(text string, found []match, silent int) error {
	if len(found) == 0 {
		why := ": is not known here, nor to the other nodes: want the beginning of an ID, of " +
			strconv.Itoa(listing.MinPrefix) + " or more characters, a job's name, or " + newest +
			"; one that is over may have gone since (keep)"
		if silent > 0 {
			why += "; " + strconv.Itoa(silent) + " nodes did not answer"
		}
		return huma.Error404NotFound("job " + quote(text) + why)
	}
	var which []error
	for _, m := range found[:min(len(found), maxMatches)] {
		which = append(which, &huma.ErrorDetail{Message: m.String()})
	}
	return huma.Error409Conflict("job "+quote(text)+": could be any of these", which...)
}

func (s *Server) newest(ctx context.Context) (grid.JobID, error) {
	var jobs []node.JobView
	if err := s.b.Read(ctx, func(v *node.Node, _ gridTime) { jobs = v.Jobs(nil) }); err != nil {
		return grid.JobID{}, asProblem(err)
	}
	if len(jobs) == 0 {
		return grid.JobID{}, huma.Error404NotFound("job last: no job was submitted to this node yet")
	}
	return jobs[len(jobs)-1].ID, nil
}

// match is a job that fits a reference.
type match struct {
	id       grid.JobID
	name     string
	what, at string // its state and the name of its origin, as far as they are known
}

// String describes the job in a list of candidates.
func (m match) String() string {
	text := strings.TrimSpace(m.id.String() + " " + m.name)
	if m.what != "" {
		text += ", " + m.what
	}
	if m.at != "" {
		text += " at " + m.at
	}
	return text
}

// ownMatches finds jobs that were submitted here, are replicated here, or are known here to have been taken over. Those
// that a name fits come newest first.
func (s *Server) ownMatches(ctx context.Context, text string) (found []match, err error) {
	err = s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		jobs := v.Jobs(nil)
		for i := len(jobs) - 1; i >= 0; i-- {
			j := &jobs[i]
			if (listing.IsPrefix(text, j.ID) || j.Spec.Name == text) && len(found) <= maxMatches {
				found = append(found, match{id: j.ID, name: j.Spec.Name, what: stateOf(j).String()})
			}
		}
		for _, id := range v.ForeignJobs(nil) {
			if known := func(m match) bool { return m.id == id }; listing.IsPrefix(text, id) && len(found) <= maxMatches &&
				!slices.ContainsFunc(found, known) {
				found = append(found, match{id: id})
			}
		}
	})
	return found, err
}
