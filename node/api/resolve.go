package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
)

// Bounds of finding a job by a part of its ID.
const (
	minPrefix  = 4 // characters
	maxMatches = 16
	newest     = "last"
)

// prefix is a part of a job's ID: the beginning of its nonce, and of its origin's ID.
type prefix struct{ nonce, origin string }

// parseRef parses a reference to a job by a person.
func parseRef(text string) (prefix, error) {
	nonce, origin, _ := strings.Cut(text, "-")
	letters := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7') })
	}
	if len(nonce) < minPrefix || len(nonce) > 16 || len(origin) > 52 || !letters(nonce) || !letters(origin) {
		return prefix{},
			fmt.Errorf("job ID %.80q: want %d to 16 characters of a-z and 2-7, perhaps a hyphen and the beginning of a "+
				"node's ID; or %s",
				text, minPrefix, newest)
	}
	return prefix{nonce, origin}, nil
}

func (p prefix) fits(id grid.JobID) bool {
	return strings.HasPrefix(id.NonceText(), p.nonce) && strings.HasPrefix(id.Origin.String(), p.origin)
}

// resolve returns the job of a reference. A part of an ID is matched only with jobs that this node has or knows of:
// no other node is asked for IDs, and none reveals them.
func (s *Server) resolve(ctx context.Context, text string) (grid.JobID, error) {
	if id, err := grid.ParseJobID(text); err == nil {
		return id, nil
	}
	if text == newest {
		return s.newest(ctx)
	}
	p, err := parseRef(text)
	if err != nil {
		return grid.JobID{}, huma.Error422UnprocessableEntity(err.Error())
	}
	found, err := s.ownMatches(ctx, p)
	if err != nil {
		return grid.JobID{}, asProblem(err)
	}
	switch len(found) {
	case 1:
		return found[0].id, nil
	case 0:
		return grid.JobID{}, huma.Error404NotFound("job " + quote(text) +
			": is not known here: the ID of a job that was submitted at another node must be whole")
	}
	var which []error
	for _, m := range found {
		which = append(which, &huma.ErrorDetail{Message: strings.TrimSpace(m.id.String() + " " + m.name)})
	}
	return grid.JobID{}, huma.Error409Conflict("job "+quote(text)+": could be any of these", which...)
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
	id   grid.JobID
	name string
}

// ownMatches finds jobs that were submitted here, are replicated here, or are known here to have been taken over.
func (s *Server) ownMatches(ctx context.Context, p prefix) (found []match, err error) {
	err = s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		for _, j := range v.Jobs(nil) {
			if p.fits(j.ID) && len(found) <= maxMatches {
				found = append(found, match{j.ID, j.Spec.Name})
			}
		}
		for _, id := range v.ForeignJobs(nil) {
			if known := func(m match) bool { return m.id == id }; p.fits(id) && len(found) <= maxMatches &&
				!slices.ContainsFunc(found, known) {
				found = append(found, match{id: id})
			}
		}
	})
	return found, err
}
