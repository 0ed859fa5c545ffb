package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"skep/grid"
	"skep/node"
	"skep/node/api/secrets"
	v1 "skep/node/api/v1"
)

type submitIn struct {
	Follow   bool `query:"follow" doc:"Stream what happens to the job, as frames, until it is over."`
	Progress bool `query:"progress" doc:"With follow: say at most once a second how many tasks are how far, and what one alone says of itself."`
	Body     v1.Submission
}

// submit saves a job and answers with it, or with a stream of its events.
func (s *Server) submit(ctx context.Context, in *submitIn) (*huma.StreamResponse, error) {
	id, spec, err := s.submission(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	// The watch begins before the submission, so that no change is missed.
	change, unwatch := s.b.Watch(id)
	if err := s.b.Submit(ctx, id, spec); err != nil {
		unwatch()
		return nil, backendError(ctx, err)
	}
	k, err := s.jobInfo(ctx, id) // it may have existed already, with another access
	if err != nil {
		unwatch()
		return nil, err
	}
	c := s.callerOf(ctx)
	if s.mayOpen(&c, id, k.hash) {
		if err := s.checkSame(ctx, id, spec); err != nil {
			unwatch()
			return nil, err
		}
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer unwatch()
		_, w := humago.Unwrap(hc)
		if !s.mayOpen(&c, id, k.hash) {
			w.Header().Set(v1.NonceHeader, s.nonces.issue(id))
			if in.Follow {
				accessDenied(id).write(w)
				return
			}
		}
		job, err := s.job(ctx, id, false)
		if err != nil {
			fail(w, err)
			return
		}
		if in.Follow {
			s.follow(ctx, w, &followed{id: id, job: job, retried: spec.Rules.OnFailure.Retry > 0, progress: in.Progress}, change)
			return
		}
		writeJSON(w, job)
	}}, nil
}

// checkSame reports a job of this ID that was submitted before as something else: whoever repeats a submission after a
// lost answer repeats its spec.
func (s *Server) checkSame(ctx context.Context, id grid.JobID, spec *grid.JobSpec) error {
	kept := spec
	err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		if j, ok := v.Job(id); ok {
			kept = j.Spec
		}
	})
	if err != nil || kept == spec {
		return err
	}
	was, err := json.Marshal(v1.SpecOf(kept))
	if err != nil {
		return err
	}
	if is, err := json.Marshal(v1.SpecOf(spec)); err != nil || !bytes.Equal(was, is) {
		return huma.Error409Conflict("job " + id.Short() + ": was submitted before with another specification, and stays " +
			"as it was: want another ID for another job")
	}
	return nil
}

// submission checks a submission, reports all errors at once, and adds the submitter.
func (s *Server) submission(ctx context.Context, in *v1.Submission) (grid.JobID, *grid.JobSpec, error) {
	id, err := s.completeID(in.ID)
	if err != nil {
		return id, nil, huma.Error422UnprocessableEntity(err.Error())
	}
	holders := secrets.Handlers{Self: s.self, Node: s.nodeNamed}
	if err := holders.Resolve(ctx, in.Spec.Secrets); err != nil {
		return id, nil, err
	}
	spec, err := in.Spec.Grid()
	if err != nil {
		return id, nil, huma.Error422UnprocessableEntity(err.Error())
	}
	owner := in.Spec.Access == string(grid.AccessOwner) || in.Spec.Access == "" && s.o.Access == grid.AccessOwner
	if owner && spec.Capability.IsZero() {
		return id, nil, newAccessError(http.StatusPreconditionRequired, id,
			"want capability_sha256, of a key that whoever submits it keeps").with(v1.NonceHeader, s.nonces.issue(id))
	}
	spec.Submitter = grid.Submitter{Node: s.self, User: s.callerOf(ctx).user}
	err = spec.Check()
	for _, f := range spec.Inputs {
		if err == nil && !s.b.Blobs().Hold(f.Blob, holdTime) { // until the job's record pins it
			err = fmt.Errorf("inputs %q: blob %s is not here: hand it over first", f.Path, f.Blob)
		}
	}
	if err != nil {
		return id, nil, invalid("the job cannot be taken", err)
	}
	return id, spec, nil
}

// completeID adds this node to the nonce that the caller drew.
func (s *Server) completeID(text string) (grid.JobID, error) {
	if !strings.Contains(text, "-") {
		text += "-" + s.self.String()
	}
	id, err := grid.ParseJobID(text)
	if err != nil {
		return id, err
	}
	if id.Origin != s.self {
		return id, fmt.Errorf("job ID %q: names node %s: a job is submitted to the node that its ID names, this is %s",
			text, id.Origin.Short(), s.self.Short())
	}
	return id, nil
}

// backendError returns why the node refused a request, as the node states it, unless the caller left.
func backendError(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return asProblem(err)
	}
	var st huma.StatusError
	if errors.As(err, &st) {
		return err
	}
	return huma.NewError(http.StatusUnprocessableEntity, err.Error())
}
