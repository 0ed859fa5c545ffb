package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// jobPath returns the escaped path of a job. It has the reference as one element, also where a job is named "..".
func jobPath(ref string) string {
	text := url.PathEscape(ref)
	if strings.Trim(text, ".") == "" {
		text = strings.ReplaceAll(text, ".", "%2E")
	}
	return jobsPath + text
}

const jobsPath = "/v1/jobs/"

// couldName reports whether a person's reference can be to the job of a whole ID.
func couldName(ref, id string) bool {
	if _, err := grid.ParseJobID(id); err != nil {
		return false
	}
	nonce, origin, _ := strings.Cut(ref, "-")
	of, at, _ := strings.Cut(id, "-")
	return ref == "last" || strings.HasPrefix(of, nonce) && strings.HasPrefix(at, origin)
}

// isNamed reports whether the job of a whole ID has a name, as the asked node says to everybody.
func (c *Client) isNamed(ctx context.Context, name, id string) bool {
	if _, err := grid.ParseJobID(id); err != nil {
		return false
	}
	resp, err := c.send(ctx, http.MethodGet, jobPath(id), nil, nil, -1, "", nil)
	if err != nil {
		return false
	}
	var j v1.Job
	return answer(resp, &j) == nil && j.ID == id && j.Name == name
}
