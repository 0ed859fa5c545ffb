package generations

import (
	"context"
	"errors"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
	"skep/node/generation"
)

// outlivedKey is that of the processes of a copied folder that have stopped for one of this folder. Later starts need
// them: those that heard the others keep what they said, which is more than this folder has.
var outlivedKey = ds.NewKey("/outlived")

// LoadOutlived returns the processes with this node's identity that have stopped for one of this folder.
func LoadOutlived(ctx context.Context, data ds.Datastore) (o generation.Outlived, err error) {
	b, err := data.Get(ctx, outlivedKey)
	if errors.Is(err, ds.ErrNotFound) {
		return o, nil
	}
	return generation.ReadOutlived(b), err
}

// isOutlived reports whether a statement is of a process that has stopped for this one, or for an earlier one of this
// folder. That rests on what package instance has had proved, not on the word of the peer that shows it. The caller
// holds mu.
func (k *Keeper) isOutlived(s generation.Statement, by grid.NodeID) bool {
	if !k.cfg.Outlived(s.Instance) {
		return k.outlived.Made(s)
	}
	if k.outlived.Note(s) {
		k.cfg.Log.Info("a peer keeps what another process with this node's identity has saved, which stopped for this one",
			"peer", by.Short())
		k.work.Go(k.saveOutlived)
	}
	return true
}

// Yield notes that this process stops for another one, which goes on. It returns once that is on disk.
func (k *Keeper) Yield(instance uint64) {
	k.mu.Lock()
	known := k.outlived.Forget(instance)
	k.mu.Unlock()
	if known {
		k.saveOutlived()
	}
}

func (k *Keeper) saveOutlived() {
	k.saving.Lock() // what is written last is newest
	defer k.saving.Unlock()
	k.mu.Lock()
	b := k.outlived.Append(nil)
	k.mu.Unlock()
	if err := k.cfg.Data.Put(context.WithoutCancel(k.work.Context()), outlivedKey, b); err != nil {
		k.cfg.Log.Warn("which processes have stopped for this one is not saved", "error", err)
	}
}
