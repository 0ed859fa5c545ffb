package p2p

import (
	"errors"
	"fmt"
	"time"

	"skep/node/generation"
	"skep/node/p2p/clock"
	"skep/node/p2p/generations"
	"skep/node/p2p/reachability"
)

// ErrPutBack is why a node does not start, or stops, whose data folder was put back to an earlier state.
var ErrPutBack = generations.ErrPutBack

// openGenerations makes the keeper of generations, before the transport.
func (d *Driver) openGenerations() (err error) {
	d.generations, err = generations.Open(d.work, generations.Config{
		Self: d.self, Key: d.key, Dir: d.cfg.DataDir, Saved: d.store.Saved, Now: clock.Now, Data: d.store.Datastore(),
		Log: d.log, PutBack: d.haltPutBack, Fatal: d.cfg.Fatal, Outlived: d.copies.watch.Outlived,
		Start: generation.Start{Boot: d.boot, Instance: d.instance, Saved: d.store.FoundSaved()},
	})
	if err != nil && !errors.Is(err, ErrPutBack) {
		return fmt.Errorf("generations of peers: %w", err)
	}
	return err
}

// haltPutBack halts a node whose data folder was put back to an earlier state. It steps no more from now on: what it
// has promised and run since that state is forgotten here, and the others go on without it.
func (d *Driver) haltPutBack(err error) {
	d.copies.halted.Store(true)
	d.inbox.Wake()
	d.log.Error("stopping", "error", err)
}

// warnUnchecked says so if no known node has told within the time for which the node waits for them.
func (d *Driver) warnUnchecked() {
	if d.boot <= 1 || reachability.CountSaved(d.work.Context(), d.store.Datastore()) == 0 {
		return
	}
	select {
	case <-d.work.Context().Done():
	case <-time.After(generation.Patience):
		if !d.generations.Answered() {
			d.log.Warn("no known node could be reached: whether the data folder was put back to an earlier state could not be "+
				"checked", "waited", generation.Patience)
		}
	}
}
