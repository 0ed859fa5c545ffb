package p2p

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"

	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/instance"
	"skep/node/p2p/machine"
	"skep/node/p2p/transport"
)

// How long a node that starts asks those it knows whether another process has its identity, before it does anything
// else. Where its folder is in another place than when it last ran it waits for those that are slow to answer, or not
// to be reached; otherwise only a copy of a whole disk would be found out so, and nodes that are down delay the start.
const (
	askPatience   = 500 * time.Millisecond
	movedPatience = 6 * time.Second
	maxAsked      = 8
)

// copies finds out whether another process has the node's identity.
type copies struct {
	watch  *instance.Watch
	place  machine.Place
	halted atomic.Bool // one has, and this node steps no more
}

// openWatch makes the watch, before the transport.
func (d *Driver) openWatch() (err error) {
	if d.copies.place, err = machine.PlaceOf(d.cfg.DataDir); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = d.cfg.name()
	}
	now := d.cfg.age
	if now == nil {
		now = clock.Now
	}
	d.copies.watch = instance.New(d.work.Context(), instance.Config{
		Self: d.self, Key: d.key, Instance: d.instance, Now: now, Log: d.log, Later: d.yield,
		Process: instance.Process{Number: uint32(os.Getpid()), Host: host},
	})
	return nil
}

// askForCopies asks known nodes whether another process has this node's identity, and returns an error if that one
// goes on. A node that starts for the first time has nothing that it could do twice.
func (d *Driver) askForCopies() error {
	d.transport.ServeEarly(instance.Protocol)
	ctx := d.work.Context()
	moved, err := d.copies.place.Moved(ctx, d.store.Datastore())
	if err != nil {
		return fmt.Errorf("place of the data folder: %w", err)
	}
	known := slices.DeleteFunc(d.reach.Recent(maxAsked), func(n grid.NodeID) bool { return !d.reach.Dialable(n) })
	if d.boot > 1 && len(known) > 0 {
		patience := askPatience
		if moved {
			d.log.Info("the data folder was moved or copied: asking known nodes whether another one runs with it")
			patience = movedPatience
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		later, asked := d.copies.watch.AskAll(limited, known)
		cancel()
		if later != nil {
			d.generations.Yield(later.Instance)
			d.awaitAsked()
			return d.copiedError(later)
		}
		if moved && asked == 0 {
			d.log.Warn("the data folder was moved or copied, and no known node answered that could tell whether another " +
				"one runs with it")
		}
	}
	if err := d.copies.place.Save(ctx, d.store.Datastore()); err != nil {
		return fmt.Errorf("place of the data folder: %w", err)
	}
	if later := d.copies.watch.Begin(); later != nil {
		d.generations.Yield(later.Instance)
		return d.copiedError(later)
	}
	return nil
}

// awaitAsked gives the other process a moment to find out about this one.
func (d *Driver) awaitAsked() {
	ctx, cancel := context.WithTimeout(d.work.Context(), time.Second)
	defer cancel()
	d.copies.watch.AwaitAsked(ctx)
}

// yield stops the node for another process with its identity. It steps no more from now on, and announces nothing,
// since the node goes on there.
func (d *Driver) yield(c *instance.Copy) {
	d.copies.halted.Store(true)
	d.inbox.Wake()
	err := d.copiedError(c)
	d.log.Error("stopping", "error", err)
	d.work.Go(func() {
		d.generations.Yield(c.Instance)
		d.awaitAsked()
		d.cfg.Fatal(err)
	})
}

// ErrCopied is why a node does not start, or stops, whose identity another process has.
var ErrCopied = errors.New("another node runs with it")

// copiedError says what happened, where the other process is and what to do.
func (d *Driver) copiedError(c *instance.Copy) error {
	where := fmt.Sprintf("on host %q as process %d", c.Process.Host, c.Process.Number)
	if c.Addr != "" {
		where += ", seen at " + c.Addr
	}
	return fmt.Errorf("identity %s of %s: %w for %s, %s: the data folder was copied; want another identity here "+
		"(skep up --new-identity), or that node stopped", d.self.Short(), d.cfg.DataDir, ErrCopied, ageText(c.Age), where)
}

// ageText returns a duration in its largest unit.
func ageText(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return english.Plural(int(d/time.Second), "second", "")
	case d < 2*time.Hour:
		return english.Plural(int(d/time.Minute), "minute", "")
	case d < 48*time.Hour:
		return english.Plural(int(d/time.Hour), "hour", "")
	}
	return english.Plural(int(d/(24*time.Hour)), "day", "")
}

// Copies returns the nodes with whose identity a second process was found in the last minutes, and what that one said
// of itself: of this node the other process, of a peer one of the two.
func (d *Driver) Copies() map[grid.NodeID]instance.Copy { return d.copies.watch.Copies() }

// VersionGaps returns the peers met in the last minutes that speak another version of the control protocol: they
// neither give nor take work.
func (d *Driver) VersionGaps() map[grid.NodeID]transport.VersionGap { return d.transport.VersionGaps() }
