package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	"skep/node/api/v1"
)

// Bounds of looking for a job by a part of its ID.
const (
	minPrefix  = 4 // characters
	maxMatches = 16
	maxAsked   = 64              // peers asked at once
	askTime    = 2 * time.Second // for a peer to say which of its jobs begin so
	newest     = "last"
)

// prefix is a part of a job's ID: the beginning of what its submitter drew, and of its node's ID.
type prefix struct{ nonce, origin string }

// parseRef reads how a person names a job.
func parseRef(text string) (prefix, error) {
	nonce, origin, _ := strings.Cut(text, "-")
	letters := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7') })
	}
	if len(nonce) < minPrefix || len(nonce) > 16 || len(origin) > 52 || !letters(nonce) || !letters(origin) {
		return prefix{}, fmt.Errorf("job ID %.80q: want %d to 16 characters of a-z and 2-7, perhaps a hyphen and the beginning of a node's ID; or %s",
			text, minPrefix, newest)
	}
	return prefix{nonce, origin}, nil
}

func (p prefix) fits(id grid.JobID) bool {
	return strings.HasPrefix(id.NonceText(), p.nonce) && strings.HasPrefix(id.Origin.String(), p.origin)
}

// resolve finds the job that a person means: among those submitted here first, then by asking the peers.
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
	found, peers, err := s.ownMatches(ctx, p)
	if err != nil {
		return grid.JobID{}, asProblem(err)
	}
	silent := 0
	if len(found) == 0 {
		found, silent = s.askPeers(ctx, p, peers)
	}
	switch len(found) {
	case 1:
		return grid.ParseJobID(found[0].ID)
	case 0:
		detail := "job " + quote(text) + ": is not known here, nor at a connected node"
		if silent > 0 {
			detail += fmt.Sprintf("; %d of %d did not answer", silent, len(peers))
		}
		return grid.JobID{}, huma.Error404NotFound(detail)
	}
	var which []error
	for _, m := range found {
		which = append(which, &huma.ErrorDetail{Message: strings.TrimSpace(m.ID + " " + m.Name)})
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

// ownMatches finds jobs of this node, and the connected nodes that others could be at.
func (s *Server) ownMatches(ctx context.Context, p prefix) (found []v1.Match, peers []grid.NodeID, err error) {
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) {
		for _, j := range v.Jobs(nil) {
			if p.fits(j.ID) && len(found) <= maxMatches {
				found = append(found, v1.Match{ID: j.ID.String(), Name: j.Spec.Name})
			}
		}
		for _, id := range v.Foreign(nil) {
			if known := func(m v1.Match) bool { return m.ID == id.String() }; p.fits(id) && len(found) <= maxMatches && !slices.ContainsFunc(found, known) {
				found = append(found, v1.Match{ID: id.String()})
			}
		}
		for _, q := range v.Peers(now, nil) {
			if q.Connected && !q.Self && strings.HasPrefix(q.Ad.Node.String(), p.origin) && len(peers) < maxAsked {
				peers = append(peers, q.Ad.Node)
			}
		}
	})
	return found, peers, err
}

// askPeers asks all at once which of their jobs begin so, and counts those that did not answer.
func (s *Server) askPeers(ctx context.Context, p prefix, peers []grid.NodeID) (found []v1.Match, silent int) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answers := make([][]v1.Match, len(peers))
	errs := make([]error, len(peers))
	var wg sync.WaitGroup
	for i, id := range peers {
		wg.Go(func() { answers[i], errs[i] = s.askPeer(ctx, p, id) })
	}
	wg.Wait()
	for i := range peers {
		found = append(found, answers[i]...)
		if errs[i] != nil {
			silent++
		}
	}
	return found[:min(len(found), maxMatches)], silent
}

// askPeer asks one; of what it says only its own jobs that begin so are believed.
func (s *Server) askPeer(ctx context.Context, p prefix, id grid.NodeID) ([]v1.Match, error) {
	q := url.Values{"nonce": {p.nonce}, "origin": {p.origin}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+id.String()+"/v1/match?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.members.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var m v1.Matches
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("node %s answered %s", id.Short(), resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&m); err != nil {
		return nil, err
	}
	var good []v1.Match
	for _, j := range m.Jobs[:min(len(m.Jobs), maxMatches)] {
		if jid, err := grid.ParseJobID(j.ID); err == nil && jid.Origin == id && p.fits(jid) {
			good = append(good, v1.Match{ID: j.ID, Name: printable(j.Name)})
		}
	}
	return good, nil
}

// printable makes a name that another node said safe to show.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), grid.MaxName)]
}

type matchIn struct {
	Nonce  string `query:"nonce" minLength:"4" maxLength:"16"`
	Origin string `query:"origin" maxLength:"52"`
}

func (s *Server) matchJobs(ctx context.Context, in *matchIn) (*v1.Matches, error) {
	found, _, err := s.ownMatches(ctx, prefix{in.Nonce, in.Origin})
	m := &v1.Matches{Jobs: append([]v1.Match{}, found[:min(len(found), maxMatches)]...), More: len(found) > maxMatches}
	return m, err
}
