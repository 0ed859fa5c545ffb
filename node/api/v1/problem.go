package v1

import (
	"net/http"
	"strings"
)

// ProblemType is the media type of an error.
const ProblemType = "application/problem+json"

// Problem is an error in the form of RFC 9457.
type Problem struct {
	Title  string          `json:"title,omitempty"`
	Status int             `json:"status,omitempty"`
	Detail string          `json:"detail,omitempty"`
	Errors []ProblemDetail `json:"errors,omitempty"`
	Job    string          `json:"job,omitempty" doc:"Whole ID of the job whose capability is wanted."`
	Nonce  string          `json:"-"` // of the answer's header
}

// ProblemDetail is one of several problems.
type ProblemDetail struct {
	Message  string `json:"message,omitempty"`
	Location string `json:"location,omitempty"`
}

// Passes reports whether the same request may be answered a moment later: the node is starting, stopping or busy.
func (p *Problem) Passes() bool { return p.Status == http.StatusServiceUnavailable }

// Error says what was wrong, each problem on a line of its own.
func (p *Problem) Error() string {
	if len(p.Errors) == 0 {
		return p.Detail
	}
	var b strings.Builder
	b.WriteString(p.Detail)
	for _, e := range p.Errors {
		b.WriteString("\n  ")
		if e.Location != "" {
			b.WriteString(e.Location + ": ")
		}
		b.WriteString(e.Message)
	}
	return b.String()
}
