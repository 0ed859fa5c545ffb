package p2p

import (
	"skep/grid"
	"skep/node/p2p/blob"
)

// repairBlob logs a blob that was damaged on disk, and fetches it again if it is needed here and a connected peer
// has it.
func (d *Driver) repairBlob(b blob.Damage) {
	d.counts.drop("damaged")
	d.log.Error("a blob was damaged on disk: it is given to nobody any more",
		"blob", b.ID, "bytes", int64(b.Size), "needed", b.Needed, "error", b.Why)
	if !b.Needed {
		return
	}
	d.spawn(func() {
		file := grid.File{Path: "damaged", Blob: b.ID, Size: b.Size}
		if err := d.fetches.get(d.ctx, grid.NodeID{}, &file); err != nil {
			d.log.Warn("a damaged blob was not brought again", "blob", b.ID, "error", err)
			return
		}
		d.log.Info("a damaged blob was brought again", "blob", b.ID)
	})
}
