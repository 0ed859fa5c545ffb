package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

// Acts on a job, as logged. For a job under access owner each needs a proof of its capability.
const (
	actNone     = "" // its state and counts, which every member may read; under access members, all that describes it
	actDescribe = "describe"
	actLogs     = "logs"
	actOutputs  = "outputs"
	actExplain  = "explain"
	actCancel   = "cancel"
	actRetry    = "retry"
	actStdin    = "stdin"
	actExec     = "exec"
)

// actOf returns the act of the rest of a job's path. An unknown path is not public.
func actOf(rest string) string {
	switch {
	case rest == "/wait":
		return actNone
	case rest == "/logs":
		return actLogs
	case rest == "/explain":
		return actExplain
	case rest == "/cancel" || rest == cancelTasksPath:
		return actCancel
	case rest == retryTasksPath:
		return actRetry
	case rest == stdinPath:
		return actStdin
	case rest == execPath:
		return actExec
	case strings.HasPrefix(rest, "/blobs/"):
		return actOutputs
	}
	return actDescribe
}

// jobInfo is what this node knows of a job in a request.
type jobInfo struct {
	here      bool          // it has the job: submitted here, or replicated here
	over      bool          // nothing can change any more: it is over, or is being cancelled
	authority grid.NodeID   // the node to ask
	claimants []grid.NodeID // nodes to ask after authority: they say that they have taken it over
	hash      grid.CapabilityHash
	gone      string // why it is not here any more; "" = nothing is known of that
}

func (s *Server) jobInfo(ctx context.Context, id grid.JobID) (jobInfo, error) {
	k := jobInfo{authority: id.Origin}
	err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		if who, _, told := v.Authority(id); told {
			k.authority = who
		}
		if k.claimants = v.Claimants(id, nil); len(k.claimants) > 0 {
			k.authority = id.Origin
		}
		var j node.JobView
		k.gone = v.Gone(id)
		if j, k.here = v.Job(id); k.here {
			k.hash, k.over = j.Spec.Capability, j.Cancelled || j.Ended >= int(j.Spec.Count)
		}
	})
	return k, asProblem(err)
}

// admit reports whether a request about a job of this node may go on, and answers it otherwise. It logs what
// another member does with a job, or a user of this node with one of another origin.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, id grid.JobID, rest string, k *jobInfo) bool {
	act, c := actOf(rest), s.callerOf(r.Context())
	switch {
	case !k.here:
		problem(w, http.StatusNotFound, goneText(id, k.gone))
		return false
	}
	open := s.mayOpen(&c, id, k.hash)
	if !open {
		w.Header().Set(v1.NonceHeader, s.nonces.issue(id))
	}
	switch {
	case !open && (rest == "" || act == actNone): // without the capability only that is visible
		return true
	case act == actNone:
		act = actDescribe
	}
	changes := act == actCancel || act == actRetry || act == actExec
	if (!s.local(&c) || id.Origin != s.self) && (!open || k.hash.IsZero() || changes) {
		s.log.record(entry{act: act, of: "job", id: id.String(), by: c.node, user: c.user, refused: !open,
			noChange: k.over && act != actRetry || k.authority != s.self})
	}
	if !open {
		accessDenied(id).write(w)
	}
	return open
}

// accessError is the error of a request that lacks a job's capability. It names the job's whole ID: a client that
// knows a part of it then finds the capability, or can draw one.
type accessError struct {
	v1.Problem
	header http.Header
}

func newAccessError(status int, id grid.JobID, what string) *accessError {
	return &accessError{Problem: v1.Problem{Title: http.StatusText(status), Status: status, Job: id.String(),
		Detail: "job " + id.Short() + ": its access is owner: " + what}}
}

// with adds a header to the answer.
func (e *accessError) with(key, value string) *accessError {
	e.header = http.Header{key: {value}}
	return e
}

// GetHeaders returns the headers of the answer.
func (e *accessError) GetHeaders() http.Header { return e.header }

// accessDenied is the error of a request that needs the job's capability.
func accessDenied(id grid.JobID) *accessError {
	return newAccessError(http.StatusForbidden, id,
		"its spec, tasks, logs, outputs and explanation are for whoever has its capability, and so is cancelling it: "+
			"want the file jobs/"+id.String()+" in the data folder that it was submitted through, or --capability FILE")
}

// GetStatus returns the status of the answer.
func (e *accessError) GetStatus() int { return e.Status }

// ContentType returns the content type of the answer.
func (e *accessError) ContentType(string) string { return v1.ProblemType }

func (e *accessError) write(w http.ResponseWriter) {
	b, _ := json.Marshal(e.Problem)
	w.Header().Set("Content-Type", v1.ProblemType)
	w.WriteHeader(e.Status)
	w.Write(append(b, '\n'))
}
