package testnet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// How long nothing must be found of a testnet whose Up did not come to its end.
const (
	engineQuiet  = 2 * time.Second        // the engine may still be about what it was asked for
	processQuiet = 500 * time.Millisecond // what was forked may not have become a node yet
)

// clear removes containers, networks and the image. What another testnet still uses stays.
func (d *containers) clear(ctx context.Context) error {
	return d.t.sweepUntilQuiet(ctx, engineQuiet, d.sweep)
}

// sweepUntilQuiet removes what there is; again and again, until nothing has come for a time, if Up did not come to its
// end.
func (t *Net) sweepUntilQuiet(ctx context.Context, quietTime time.Duration,
	sweep func(context.Context) (found bool, err error)) error {
	_, err := sweep(ctx)
	for quiet := time.Now(); err == nil && !t.state.Ready && time.Since(quiet) < quietTime; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(quietTime / 10):
		}
		var found bool
		if found, err = sweep(ctx); found {
			quiet = time.Now()
		}
	}
	return err
}

// sweep removes what there is and reports whether there was anything.
func (d *containers) sweep(ctx context.Context) (found bool, err error) {
	l, err := d.c.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: d.ours()})
	if err != nil {
		return false, fmt.Errorf("docker: list containers: %w", err)
	}
	var errs []error
	note := func(err error) {
		found = found || err == nil
		if err != nil && !errdefs.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("docker: %w", err))
		}
	}
	for _, c := range l.Items {
		_, err := d.c.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		note(err)
	}
	nets, err := d.c.NetworkList(ctx, client.NetworkListOptions{Filters: d.ours()})
	if err != nil {
		errs = append(errs, fmt.Errorf("docker: list networks: %w", err))
	}
	for _, n := range nets.Items {
		_, err := d.c.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		note(err)
	}
	if d.t.madeImage() {
		if _, err := d.c.ImageRemove(ctx, d.t.state.Image,
			client.ImageRemoveOptions{PruneChildren: true}); !errdefs.IsConflict(err) {
			note(err)
		}
	}
	// Two testnets that make the image at the same time leave one of the two without its name. What is in use stays.
	p, err := d.c.ImagePrune(ctx, client.ImagePruneOptions{Filters: client.Filters{}.Add("label",
		imageLabel).Add("dangling", "true")})
	if err != nil && !errdefs.IsConflict(err) { // another one prunes
		errs = append(errs, fmt.Errorf("docker: %w", err))
	}
	return found || len(p.Report.ImagesDeleted) > 0, errors.Join(errs...)
}

// Left returns what the engine still has of the testnet of a folder: nothing after Down.
func Left(ctx context.Context, dir string) (left []string, err error) {
	d, err := newContainers(&Net{dir: dir})
	if err != nil {
		return nil, err
	}
	defer d.c.Close()
	l, err := d.c.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: d.ours()})
	if err != nil {
		return nil, fmt.Errorf("docker: list containers: %w", err)
	}
	for _, c := range l.Items {
		left = append(left, "container "+c.Labels[nodeLabel])
	}
	nets, err := d.c.NetworkList(ctx, client.NetworkListOptions{Filters: d.ours()})
	if err != nil {
		return nil, fmt.Errorf("docker: list networks: %w", err)
	}
	for _, n := range nets.Items {
		left = append(left, "network "+n.Name)
	}
	return left, nil
}
