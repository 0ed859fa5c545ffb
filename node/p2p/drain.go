package p2p

import (
	"context"
	"time"

	"skep/grid"
)

// Drain makes the node take nothing new: what has not started is handed back, what runs is stopped and reported as lost
// after a time. It returns when that is under way.
func (d *Driver) Drain(ctx context.Context, within time.Duration) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Within = grid.EvDrain, within })
}

// Undrain makes the node take work again.
func (d *Driver) Undrain(ctx context.Context) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind = grid.EvUndrain })
}
