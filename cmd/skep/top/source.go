package top

import (
	"context"
	"time"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Bounds of what is asked and kept.
const (
	tick      = time.Second     // between requests for nodes and the asked node's jobs
	gridEvery = 5               // ticks between requests for the jobs of the grid
	patience  = 5 * time.Second // for an answer
	mostJobs  = 200             // of a list
)

// Source is the node that is asked. Its methods are those of a client; tests have others.
type Source interface {
	Nodes(ctx context.Context) (v1.NodeList, error)
	List(ctx context.Context, q *client.ListQuery) (v1.JobPage, error)
	Cancel(ctx context.Context, ref string) (v1.Job, error)
	Logs(ctx context.Context, ref string, task uint32) (Stream, error) // follows the task to its end
	Explain(ctx context.Context, ref string) (string, error)
}

// Stream is the output of a task as it comes.
type Stream interface {
	Next() (v1.Frame, *v1.Event, error)
	Close() error
}

// Text formats what other verbs print too.
type Text struct {
	Age   func(time.Duration) string
	Clean func(string) string // makes a line printable
}
