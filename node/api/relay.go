package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/api/signatures"
	v1 "skep/node/api/v1"
)

// dialTime bounds connecting to the job's origin or owner.
const dialTime = 10 * time.Second

// relayKinds are the media types that are relayed from another member. No other is: a member's answer must not act
// as a page of this node in a browser.
var relayKinds = map[string]bool{"application/json": true, v1.ProblemType: true, v1.FrameType: true,
	"text/plain": true, "application/octet-stream": true}

// jobPath splits the path of a request about a job. In an escaped path, a reference has no slash.
func jobPath(path string) (ref, rest string, ok bool) {
	after, ok := strings.CutPrefix(path, "/v1/jobs/")
	if !ok {
		return "", "", false
	}
	ref, rest, more := strings.Cut(after, "/")
	if more {
		rest = "/" + rest
	}
	return ref, rest, true
}

// relay completes the job's ID in a request, and relays the request if another node owns the job.
func (s *Server) relay(next http.Handler) http.Handler {
	proxy := s.proxy()
	next = s.relayDrain(proxy, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, rest, ok := jobPath(r.URL.EscapedPath())
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		text, terr := url.PathUnescape(text)
		rest, rerr := url.PathUnescape(rest)
		if terr != nil || rerr != nil {
			problem(w, http.StatusBadRequest, quote(r.URL.EscapedPath())+": is no path")
			return
		}
		id, err := s.resolve(r.Context(), text)
		if err != nil {
			failAll(w, err)
			return
		}
		w.Header().Set(v1.JobHeader, id.String()) // not from the other node's answer: it could name another job
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = "/v1/jobs/"+id.String()+rest, ""
		k, err := s.jobInfo(r.Context(), id)
		if err != nil {
			fail(w, err)
			return
		}
		if rest == signatures.Path && !k.here {
			problem(w, http.StatusNotFound, s.notKept(r.Context(), id, &k))
			return
		}
		if k.authority == s.self || rest == signatures.Path {
			if s.admit(w, r, id, rest, &k) {
				next.ServeHTTP(w, r)
			}
			return
		}
		if rest == stdinPath {
			problem(w, http.StatusConflict, "job "+id.String()+": "+stdinElsewhere)
			return
		}
		if rest == execPath {
			problem(w, http.StatusConflict, "job "+id.String()+": "+execElsewhere)
			return
		}
		if len(k.claimants) == 0 && k.authority == id.Origin {
			k.claimants = s.keepers(r.Context(), id)
		}
		r = r.WithContext(context.WithValue(r.Context(), claimantsKey{}, k.claimants))
		r.URL.Host = k.authority.String()
		proxy.ServeHTTP(w, r)
	})
}

func (s *Server) proxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport:     claimantTransport{s.members},
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			// Requests about other nodes' jobs have no body, and the token is this node's only. The caller is
			// passed on.
			p.Out.Body, p.Out.ContentLength = http.NoBody, 0
			c := s.callerOf(p.In.Context())
			p.Out.Header = http.Header{"Accept": {"*/*"}, v1.UserHeader: {url.PathEscape(c.user)}}
			if _, _, ok := jobPath(p.In.URL.Path); ok && c.proof != nil {
				p.Out.Header.Set(v1.ProofHeader, c.proof.proof.String())
			}
			p.Out.URL = &url.URL{Scheme: "http", Host: p.In.URL.Host, Path: p.In.URL.Path, RawQuery: p.In.URL.RawQuery}
			p.Out.Host = p.In.URL.Host
		},
		ModifyResponse: func(resp *http.Response) error {
			kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			if !relayKinds[kind] || resp.StatusCode < 200 || resp.StatusCode >= 300 && resp.StatusCode < 400 {
				return fmt.Errorf("it answered %d %.40q", resp.StatusCode, kind)
			}
			h := http.Header{"Content-Type": {resp.Header.Get("Content-Type")}}
			if n := resp.Header.Get("Content-Length"); n != "" {
				h.Set("Content-Length", n)
			}
			if n := resp.Header.Get(v1.NonceHeader); v1.IsNonce(n) {
				h.Set(v1.NonceHeader, n)
			}
			resp.Header, resp.Trailer = h, nil
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return
			}
			problem(w, http.StatusBadGateway, s.unreachable(r, err))
		},
	}
}

// unreachable says whose job it was and why that node could not be asked.
func (s *Server) unreachable(r *http.Request, err error) string {
	id, perr := grid.ParseNodeID(r.URL.Host)
	if perr != nil {
		id, _ = grid.ParseNodeID(r.Host)
	}
	if claimant, ok := errors.AsType[*claimantError](err); ok {
		id = claimant.who
	}
	name := s.displayName(r.Context(), id)
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		why = "no answer in time"
	}
	if text, _, ok := jobPath(r.URL.Path); ok {
		if job, err := grid.ParseJobID(text); err == nil && job.Origin != id {
			return "node " + job.Origin.Short() + ", where the job was submitted, is gone; its owner is node " + name +
				", which cannot be asked now: " + why
		}
	}
	if _, ok := drainPath(r.URL.Path); ok {
		return "node " + name + " cannot be asked now: " + why
	}
	return "the job was submitted to node " + name + ", which cannot be asked now: " + why
}

// displayName returns a node's name and its shortened ID, or the ID alone if no name is known.
func (s *Server) displayName(ctx context.Context, id grid.NodeID) (name string) {
	s.b.Read(ctx, func(v *node.Node, now gridTime) { name = namesOf(v, now)[id] })
	if name == "" {
		return id.Short()
	}
	return name + " (" + id.Short() + ")"
}

// nameTime bounds reading a node's name.
const nameTime = time.Second

// nameOf returns the name of a node; "" = it is not known.
func (s *Server) nameOf(id grid.NodeID) (name string) {
	ctx, cancel := context.WithTimeout(context.Background(), nameTime)
	defer cancel()
	s.b.Read(ctx, func(v *node.Node, now gridTime) { name = namesOf(v, now)[id] })
	return name
}

// transport sends HTTP over the grid's connections; the host of a URL is a node's ID.
func (s *Server) transport() http.RoundTripper {
	return &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 2, MaxConnsPerHost: 32, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			id, err := grid.ParseNodeID(host)
			if err != nil {
				return nil, err
			}
			bound, ok := ctx.Value(dialBoundKey{}).(time.Duration)
			if !ok {
				bound = dialTime
			}
			ctx, cancel := context.WithTimeout(ctx, bound)
			defer cancel()
			return s.b.Dial(ctx, id)
		},
	}
}
