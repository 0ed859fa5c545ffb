package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/listing"
)

// claimantDialTime bounds dialling a node after which another one can be asked.
const claimantDialTime = 3 * time.Second

type (
	claimantsKey struct{} // of a request's context: nodes that claim to have taken its job over
	dialBoundKey struct{} // a time.Duration
)

// claimantError is the error of the last claimant that could not be asked.
type claimantError struct {
	who grid.NodeID
	error
}

// claimantTransport asks the node that a request is for and, if that cannot be asked or does not know the job, one
// after the other the nodes that claim to have taken the job over. Any member may claim that, so the origin comes
// first, and the others after a false claimant.
type claimantTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. Requests have no bodies.
func (t claimantTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	others, _ := r.Context().Value(claimantsKey{}).([]grid.NodeID)
	if len(others) == 0 {
		return t.RoundTripper.RoundTrip(r)
	}
	first, ferr := t.try(r, r.URL.Host, claimantDialTime)
	if ferr == nil && first.StatusCode != http.StatusNotFound {
		return first, nil
	}
	var last error
	for i, who := range others {
		bound := claimantDialTime
		if i == len(others)-1 {
			bound = dialTime
		}
		resp, err := t.try(r, who.String(), bound)
		switch {
		case err != nil:
			last = &claimantError{who, err}
		case resp.StatusCode == http.StatusNotFound:
			drop(resp)
		default:
			if first != nil {
				drop(first)
			}
			return resp, nil
		}
	}
	if ferr != nil && last != nil {
		return nil, last
	}
	return first, ferr
}

// keepers returns a node that keeps a job of an origin that is not connected, if the others tell of one.
func (s *Server) keepers(ctx context.Context, id grid.JobID) (nodes []grid.NodeID) {
	connected := false
	err := s.b.Read(ctx, func(v *node.Node, now gridTime) {
		connected = slices.ContainsFunc(v.Peers(now, nil), func(p node.PeerView) bool {
			return p.Connected && p.Ad.Node == id.Origin
		})
	})
	if connected || err != nil {
		return nil
	}
	r, err := s.b.Jobs(ctx, &listing.Query{Limit: 1, Ref: id.String()})
	if err != nil {
		return nil
	}
	for i := range r.Jobs {
		if by := r.Jobs[i].By; by != id.Origin && by != s.self {
			nodes = append(nodes, by)
		}
	}
	return nodes
}

// notKept says that this node has no signatures of a job to check, and which nodes have, as far as the others tell.
func (s *Server) notKept(ctx context.Context, id grid.JobID, k *jobInfo) string {
	text := "job " + id.String() + ": node " + s.displayName(ctx, s.self) + " does not keep it, and checks only what it " +
		"keeps itself"
	if k.gone != "" {
		text += "; it has gone: " + k.gone
	}
	r, err := s.b.Jobs(ctx, &listing.Query{Limit: 1, Ref: id.String()})
	var where []string
	for i := 0; err == nil && i < len(r.Jobs); i++ {
		keepers := r.Jobs[i].Members
		if len(keepers) == 0 { // its origin alone, or whoever tells may not say which nodes
			keepers = []grid.NodeID{r.Jobs[i].By}
		}
		for _, who := range keepers {
			where = append(where, s.displayName(ctx, who))
		}
	}
	if len(where) == 0 {
		return text + "; no connected node says that it keeps it"
	}
	return text + ": want one that does: " + strings.Join(where, ", ")
}

func (t claimantTransport) try(r *http.Request, who string, bound time.Duration) (*http.Response, error) {
	out := r.Clone(context.WithValue(r.Context(), dialBoundKey{}, bound))
	out.URL.Host, out.Host = who, who
	return t.RoundTripper.RoundTrip(out)
}

// drop drains and closes an answer that is not used, so that its connection can be reused.
func drop(resp *http.Response) {
	io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
	resp.Body.Close()
}
