package p2p

import (
	"context"
	"errors"
	"io"

	"skep/grid"
)

// errNotPlaced reports that no node has a task now.
var errNotPlaced = errors.New("no node runs it now: it waits, or has ended")

// Exec opens a session with the node that runs a task of an own job, to run a command beside it: see package
// exec/session. The command ends when the connection does. The error is a grid.NodeError if the node that runs the task
// cannot be asked, or refuses.
func (d *Driver) Exec(ctx context.Context, t grid.TaskID) (io.ReadWriteCloser, error) {
	v, err := d.taskView(ctx, t)
	switch {
	case err != nil:
		return nil, err
	case v.State != grid.Placed:
		return nil, errNotPlaced
	case v.Worker.IsZero():
		return nil, errWorkerUnknown
	}
	conn, err := d.runner.OpenExec(ctx, v.Worker, v.ID)
	if err != nil {
		return nil, nodeError(v.Worker, err)
	}
	return conn, nil
}
