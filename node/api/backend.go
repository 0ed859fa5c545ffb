package api

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/blob"
)

// Backend is the part of the node's driver that the API uses. All methods are safe for concurrent use.
type Backend interface {
	Self() grid.NodeID
	Addrs() []string        // multiaddresses at which it may be dialled
	Token() (string, error) // the token with which another machine joins
	Wall() grid.Wall
	Registry() *prometheus.Registry
	Blobs() *blob.Store
	Dropped() map[string]uint64 // messages dropped since start, by reason

	// Submit returns when the job is on disk, or why it was refused. Submitting the same ID again has no effect.
	Submit(ctx context.Context, id grid.JobID, spec *grid.JobSpec) error
	// Cancel returns when the cancellation is on disk and no attempt of the job can start any more: at most 1.16
	// leases later.
	Cancel(ctx context.Context, id grid.JobID) error

	// Drain makes the node take no new tasks and gives running ones a time to end; Undrain reverts that. Both
	// return when it has taken effect.
	Drain(ctx context.Context, within time.Duration) error
	Undrain(ctx context.Context) error

	// Read calls f between two steps. f must not keep what it sees.
	Read(ctx context.Context, f func(n *node.Node, now grid.Time)) error
	// Watch returns a channel that is signalled after changes of an own job, several as one, and a function that
	// ends it.
	Watch(id grid.JobID) (<-chan struct{}, func())
	// Output writes the output of a task of an own job on a stream, from an offset on, wherever it runs; with
	// follow it returns when the task has ended. If the node that has it cannot be asked the error is a
	// grid.NodeError.
	Output(ctx context.Context, w io.Writer, t grid.TaskID, stderr bool, offset int64, follow bool) error

	// FetchBlob returns when a blob is here that some nodes should have.
	FetchBlob(ctx context.Context, f *grid.File, holders []grid.NodeID) error

	// Dial connects to the member API of another member, and Listener accepts such connections.
	Dial(ctx context.Context, id grid.NodeID) (net.Conn, error)
	Listener() net.Listener
}
