package runner

import (
	"skep/grid"
	"skep/node/p2p/blob"
)

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
