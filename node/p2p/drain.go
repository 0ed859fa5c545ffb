package p2p

import (
	"context"
	"time"

	"skep/grid"
)

// Drain makes the node take no new tasks: what has not started is handed back, what still runs after a time is
// stopped and reported as lost. It returns when draining has begun.
func (d *Driver) Drain(ctx context.Context, within time.Duration) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Within = grid.EvDrain, within })
}

// Undrain makes the node take tasks again.
func (d *Driver) Undrain(ctx context.Context) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind = grid.EvUndrain })
}
