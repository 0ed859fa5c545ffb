package runner

import (
	"context"
	"errors"
	"os"

	"skep/grid"
	"skep/node/p2p/blob"
)

// Fetch fetches the files of an attempt: its inputs, until it is dropped, or those of its result. The inputs of one
// whose folders are not for its submitter are left out: its start refuses it before it looks for them.
func (r *Runner) Fetch(x grid.Fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := r.ctx
	if a := r.m[x.Attempt]; a != nil && !a.started && !x.Deposit && x.Step == 0 {
		ctx, a.cancelInputs = context.WithCancel(ctx)
		if r.refuses(a.spec) {
			x.Files = nil
		}
	}
	r.fetchFiles(ctx, x)
}

// fetchFiles fetches the files of an attempt and tells the node, unless ctx ends before: then they are not wanted.
// The files stay pinned until the node has stepped, and the records that it saved pin them.
func (r *Runner) fetchFiles(ctx context.Context, x grid.Fetch) {
	r.pins.add(x.Files)
	began := r.work.Go(func() {
		err := r.fetcher.fetch(ctx, &x)
		if ctx.Err() == nil {
			r.cfg.Loop.Event(func(ev *grid.Event) {
				ev.Kind, ev.Attempt, ev.Deposit, ev.Step = grid.EvFetched, x.Attempt, x.Deposit, x.Step
				if err != nil {
					ev.Err = cutText(err.Error())
				}
			})
			r.cfg.Loop.Wait()
		}
		r.pins.remove(x.Files)
	})
	if !began {
		r.pins.remove(x.Files)
	}
}

// FetchBlob fetches a blob that some nodes should have, and returns when it is here. It may be evicted again.
func (r *Runner) FetchBlob(ctx context.Context, file *grid.File, holders []grid.NodeID) error {
	x := grid.Fetch{Others: holders, Files: []grid.File{*file}, Deposit: true}
	if len(holders) > 0 {
		x.From = holders[0]
	}
	return r.fetcher.fetch(ctx, &x)
}

// Get fetches a blob, unless it is here: from the given node, then from others that should have it, then from
// anybody. It may be evicted again.
func (r *Runner) Get(ctx context.Context, from grid.NodeID, file *grid.File, others ...grid.NodeID) error {
	return r.fetcher.get(ctx, from, file, others...)
}

// OpenBlob opens a blob, fetched if need be, after it was read whole and verified: printed bytes cannot be taken
// back. A damaged blob is fetched again.
func (r *Runner) OpenBlob(ctx context.Context, from grid.NodeID, file *grid.File, others []grid.NodeID) (
	*os.File, error) {
	var f *os.File
	var err error
	for range 2 {
		if err = r.fetcher.get(ctx, from, file, others...); err != nil {
			return nil, err
		}
		if f, _, err = r.cfg.Blobs.OpenWhole(ctx, file.Blob); !errors.Is(err, blob.ErrNotFound) {
			break
		}
	}
	return f, err
}

// RepairBlob logs a blob that was damaged on disk, and fetches it again if it is needed here and a connected peer
// has it.
func (r *Runner) RepairBlob(b blob.Damage) {
	r.cfg.Drop("damaged")
	r.cfg.Log.Error("a blob was damaged on disk: it is given to nobody any more",
		"blob", b.ID, "bytes", int64(b.Size), "needed", b.Needed, "error", b.Why)
	if !b.Needed {
		return
	}
	r.work.Go(func() {
		file := grid.File{Path: "damaged", Blob: b.ID, Size: b.Size}
		if err := r.fetcher.get(r.ctx, grid.NodeID{}, &file); err != nil {
			r.cfg.Log.Warn("a damaged blob was not brought again", "blob", b.ID, "error", err)
			return
		}
		r.cfg.Log.Info("a damaged blob was brought again", "blob", b.ID)
	})
}
