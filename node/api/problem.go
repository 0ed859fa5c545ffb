package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skep/node/api/v1"
)

// problem answers with an error.
func problem(w http.ResponseWriter, status int, detail string) {
	b, _ := json.Marshal(v1.Problem{Title: http.StatusText(status), Status: status, Detail: detail})
	w.Header().Set("Content-Type", v1.ProblemType)
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// fail answers with an error that may have its own status.
func fail(w http.ResponseWriter, err error) {
	var st huma.StatusError
	if errors.As(err, &st) {
		problem(w, st.GetStatus(), err.Error())
		return
	}
	problem(w, http.StatusInternalServerError, err.Error())
}

// failAll answers with an error and its details.
func failAll(w http.ResponseWriter, err error) {
	var m *huma.ErrorModel
	if !errors.As(err, &m) {
		fail(w, err)
		return
	}
	b, _ := json.Marshal(m)
	w.Header().Set("Content-Type", v1.ProblemType)
	w.WriteHeader(m.Status)
	w.Write(append(b, '\n'))
}

// asProblem gives an error of the node a status.
func asProblem(err error) error {
	var st huma.StatusError
	switch {
	case err == nil || errors.As(err, &st):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return huma.Error503ServiceUnavailable("the node is stopping or too busy to answer")
	}
	return huma.Error500InternalServerError(err.Error())
}

// invalid turns joined errors into one problem that lists them all.
func invalid(what string, err error) error {
	var details []error
	for _, line := range strings.Split(err.Error(), "\n") {
		details = append(details, &huma.ErrorDetail{Message: line})
	}
	return huma.Error422UnprocessableEntity(what, details...)
}

// problems gives the router's own errors the same form as all others.
func (s *Server) problems(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := s.mux.Handler(r); pattern == "" {
			rw := &headerOnly{header: w.Header()}
			s.mux.ServeHTTP(rw, r)
			if rw.status == http.StatusMethodNotAllowed {
				problem(w, rw.status, r.Method+" "+r.URL.Path+": want "+w.Header().Get("Allow"))
				return
			}
			problem(w, http.StatusNotFound, quote(r.URL.Path)+": is no path of this API: /openapi.json lists them")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// headerOnly records the status and header of an answer and discards its body.
type headerOnly struct {
	header http.Header
	status int
}

func (b *headerOnly) Header() http.Header         { return b.header }
func (b *headerOnly) WriteHeader(status int)      { b.status = status }
func (b *headerOnly) Write(p []byte) (int, error) { return len(p), nil }

func quote(s string) string { return strconv.Quote(s[:min(len(s), 128)]) }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
