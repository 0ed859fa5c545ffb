package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"skep/node"
	"skep/node/api/secrets"
	"skep/node/api/signatures"
	v1 "skep/node/api/v1"
)

// Ref is the job of a request. When a handler sees it, it is the whole ID of a job of this node.
type Ref struct {
	ID string `path:"id" doc:"Job ID: whole, a beginning of 4 characters or more, or one with - and a beginning of its node's ID; or the whole name of a job, if one alone has it; or last, the newest of this node. Jobs that are known at this node come before those of others, and an ID before a name."`
}

type answer[T any] struct{ Body T }

// routes registers all routes.
func (s *Server) routes() {
	stream(s, http.MethodPost, "/v1/jobs", "submit-job", "Submit a job; with follow=true, stream what happens to it",
		"application/json", s.submit)
	route(s, http.MethodGet, "/v1/jobs", "list-jobs",
		"The jobs submitted to this node, or those of the grid, newest first", s.listJobs)
	route(s, http.MethodGet, "/v1/jobs/{id}", "get-job", "One job", s.getJob)
	route(s, http.MethodPost, "/v1/jobs/{id}/cancel", "cancel-job", "End a job", s.cancelJob)
	route(s, http.MethodPost, "/v1/jobs/{id}"+cancelTasksPath, "cancel-tasks", "End tasks of a job", s.cancelTasks)
	route(s, http.MethodPost, "/v1/jobs/{id}"+retryTasksPath, "retry-tasks", "Run tasks of a job again that have ended",
		s.retryTasks)
	route(s, http.MethodGet, "/v1/jobs/{id}/wait", "wait-job", "A job when it is over, or as it is when the time is",
		s.waitJob)
	route(s, http.MethodGet, "/v1/jobs/{id}/tasks", "list-tasks", "The tasks of a job, by index", s.listTasks)
	route(s, http.MethodGet, "/v1/jobs/{id}/explain", "explain-job", "What happened to the tasks of a job, and why",
		s.explainJob)
	signed := &signatures.Handler{Self: s.self, Read: s.b.Read, Gone: gone}
	route(s, http.MethodGet, "/v1/jobs/{id}"+signatures.Path, "job-signatures",
		"What this node, which must keep a job, has found of its signatures", signed.Get)
	stream(s, http.MethodGet, "/v1/jobs/{id}/logs", "job-logs", "Stream what a task printed", "text/plain", s.logs)
	s.raw(http.MethodPost, "/v1/jobs/{id}"+stdinPath, "job-stdin",
		"Stream the standard input of the one task of a job that was submitted here", s.putStdin)
	s.raw(http.MethodPost, "/v1/jobs/{id}"+execPath, "job-exec",
		"Run a command beside a task, on a connection that changes to the protocol "+v1.ExecProtocol, s.exec)
	s.raw(http.MethodGet, "/v1/jobs/{id}/blobs/{blob}", "job-blob", "A blob among a job's inputs or results", s.jobBlob)

	s.raw(http.MethodGet, "/v1/blobs/{blob}", "get-blob", "A blob that this node keeps", s.getBlob)
	s.raw(http.MethodPut, "/v1/blobs/{blob}", "put-blob", "Hand a blob to this node; its length must be said", s.putBlob)

	route(s, http.MethodGet, "/v1/nodes", "list-nodes", "The nodes that this one knows, itself first", s.listNodes)
	route(s, http.MethodGet, "/v1/nodes/{node}", "get-node", "One node, by its ID, a beginning of it, its name, or self",
		s.getNode)
	route(s, http.MethodPost, "/v1/nodes/{node}/drain", "drain-node",
		"Have a node take nothing new, so that it may be stopped", s.drain)
	route(s, http.MethodGet, "/v1/nodes/{node}/drain", "get-drain", "How far a node has come with draining", s.getDrain)
	route(s, http.MethodDelete, "/v1/nodes/{node}/drain", "undrain-node", "Have a node take work again", s.undrain)
	held := &secrets.Handlers{Self: s.self, Keeper: s.o.Secrets, Node: s.nodeNamed}
	route(s, http.MethodGet, "/v1/secrets", "list-secrets", "The secrets that this node has set or holds", held.List)
	route(s, http.MethodPut, "/v1/secrets/{name}", "set-secret", "Set a secret of this node", held.Set)
	route(s, http.MethodDelete, "/v1/secrets/{name}", "remove-secret", "Remove a secret of this node", held.Remove)
	route(s, http.MethodGet, "/v1/token", "get-token", "What another machine joins with", s.getToken)
	route(s, http.MethodPost, "/v1/invites", "invite-node",
		"Make an invite, with which a machine joins a network that has certificates; at an issuer", s.invite)
	route(s, http.MethodPost, "/v1/revocations", "revoke-node", "Put a member out of such a network; at an issuer",
		s.revoke)
	route(s, http.MethodGet, "/v1/config", "get-config", "The settings that this node runs with", s.getConfig)
	route(s, http.MethodGet, "/v1/version", "get-version", "What runs here", s.getVersion)
	route(s, http.MethodGet, "/v1/stats", "get-stats", "Counts since start and gauges of now", s.getStats)
	route(s, http.MethodGet, "/healthz", "health", "Whether the node lives", s.health)
	s.raw(http.MethodGet, "/metrics", "metrics", "Metrics for Prometheus",
		promhttp.HandlerFor(s.b.Registry(), promhttp.HandlerOpts{}).ServeHTTP)
}

// memberPaths are the routes for other members, about jobs of this node.
var memberPaths = []struct{ method, path string }{
	{http.MethodGet, "/v1/jobs/{id}"},
	{http.MethodPost, "/v1/jobs/{id}/cancel"},
	{http.MethodPost, "/v1/jobs/{id}" + cancelTasksPath},
	{http.MethodPost, "/v1/jobs/{id}" + retryTasksPath},
	{http.MethodGet, "/v1/jobs/{id}/wait"},
	{http.MethodGet, "/v1/jobs/{id}/tasks"},
	{http.MethodGet, "/v1/jobs/{id}/explain"},
	{http.MethodGet, "/v1/jobs/{id}/logs"},
	{http.MethodGet, "/v1/jobs/{id}/blobs/{blob}"},
	{http.MethodPost, "/v1/nodes/self/drain"},
	{http.MethodGet, "/v1/nodes/self/drain"},
	{http.MethodDelete, "/v1/nodes/self/drain"},
}

// membersOnly admits only memberPaths.
func membersOnly(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, p := range memberPaths {
		mux.Handle(p.method+" "+p.path, next)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, http.StatusForbidden, quote(r.Method+" "+r.URL.Path)+": is not for other members")
	})
	return mux
}

// operation describes a route for the OpenAPI document.
func operation(method, path, id, summary string) huma.Operation {
	tag := "node"
	switch {
	case strings.HasPrefix(path, "/v1/jobs"):
		tag = "jobs"
	case strings.HasPrefix(path, "/v1/blobs"):
		tag = "blobs"
	}
	return huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, Tags: []string{tag},
		MaxBodyBytes: maxBody, BodyReadTimeout: -1}
}

// route registers a handler that answers with JSON.
func route[I, O any](s *Server, method, path, id, summary string, h func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, operation(method, path, id, summary), func(ctx context.Context, in *I) (*answer[O], error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, asProblem(err)
		}
		return &answer[O]{*out}, nil
	})
}

// stream registers a handler that answers with a stream: frames, or the given media type.
func stream[I any](s *Server, method, path, id, summary, kind string, h func(context.Context, *I) (*huma.StreamResponse,
	error)) {
	op := operation(method, path, id, summary)
	op.Responses = map[string]*huma.Response{"200": {Description: "The answer, or frames where they are asked for",
		Content: map[string]*huma.MediaType{kind: {}, v1.FrameType: {}}}}
	huma.Register(s.api, op, h)
}

// raw registers a plain handler and describes it to huma, which would read a whole body into memory.
func (s *Server) raw(method, path, id, summary string, h http.HandlerFunc) {
	op := operation(method, path, id, summary)
	op.Responses = map[string]*huma.Response{"200": {Description: "The content",
		Content: map[string]*huma.MediaType{"application/octet-stream": {}}}}
	for _, p := range []string{"id", "blob"} {
		if strings.Contains(path, "{"+p+"}") {
			op.Parameters = append(op.Parameters, &huma.Param{Name: p, In: "path", Required: true,
				Schema: &huma.Schema{Type: huma.TypeString}})
		}
	}
	if id == "job-blob" {
		op.Parameters = append(op.Parameters,
			&huma.Param{Name: "task", In: "query", Description: "Index of the task that left it: so it is found at once.",
				Schema: &huma.Schema{Type: huma.TypeInteger}})
	}
	if id == "job-exec" {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "task", In: "query", Description: "Index of the task.",
			Schema: &huma.Schema{Type: huma.TypeInteger}},
			&huma.Param{Name: "Upgrade", In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeString},
				Description: v1.ExecProtocol + ", with Connection: Upgrade."})
		op.Responses = map[string]*huma.Response{"101": {Description: "What follows is a session: its client closes it to " +
			"end the command"}}
	}
	if id == "job-stdin" {
		op.RequestBody = &huma.RequestBody{Required: true,
			Description: "The input, which is not read before the task runs. Its end is the end of the input; a request that " +
				"breaks off stops the task.",
			Content: map[string]*huma.MediaType{"application/octet-stream": {}}}
		op.Responses["200"].Content = map[string]*huma.MediaType{"application/json": {
			Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[v1.StdinEnd](), true, "StdinEnd")}}
	}
	if method == http.MethodPut {
		op.RequestBody = &huma.RequestBody{Required: true,
			Content: map[string]*huma.MediaType{"application/octet-stream": {}}}
		op.Responses["200"].Content = map[string]*huma.MediaType{"application/json": {
			Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[v1.Blob](), true, "Blob")}}
	}
	s.api.OpenAPI().AddOperation(&op)
	s.mux.HandleFunc(method+" "+path, h)
}

// health reports that the node is alive: it can still be read.
func (s *Server) health(ctx context.Context, _ *struct{}) (*v1.Health, error) {
	if err := s.b.Read(ctx, func(*node.Node, gridTime) {}); err != nil {
		return nil, err
	}
	return &v1.Health{Status: "ok"}, nil
}

func (s *Server) getVersion(context.Context, *struct{}) (*v1.Version, error) {
	return &s.o.Version, nil
}

func (s *Server) getConfig(context.Context, *struct{}) (*v1.Config, error) {
	return &v1.Config{Settings: s.o.Settings}, nil
}

func (s *Server) getToken(context.Context, *struct{}) (*v1.Token, error) {
	t, err := s.b.Token()
	if err != nil {
		return nil, err
	}
	return &v1.Token{Token: t, Addrs: s.b.Addrs()}, nil
}
