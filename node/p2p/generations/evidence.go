package generations

import (
	"context"
	"errors"

	ds "github.com/ipfs/go-datastore"

	"skep/node/generation"
)

// evidenceKey is that of the statement which showed that the folder was put back. It is kept in the folder, so that
// later starts need not meet the peer again that showed it: they would go on where they reach nobody.
var evidenceKey = ds.NewKey("/put-back")

// keepEvidence saves it, also where the node is being stopped already: the next start may reach nobody. The node has
// halted, and stops after that, whether it could be saved or not.
func (k *Keeper) keepEvidence(signed []byte) {
	if err := k.cfg.Data.Put(context.WithoutCancel(k.work.Context()), evidenceKey, signed); err != nil {
		k.cfg.Log.Warn("what shows that the data folder was put back is not saved", "error", err)
	}
}

// loadEvidence returns an error if an earlier start of this folder has found that it was put back.
func (k *Keeper) loadEvidence() error {
	signed, err := k.cfg.Data.Get(k.work.Context(), evidenceKey)
	if errors.Is(err, ds.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if s, ok := generation.Open(k.cfg.Self, signed); ok {
		return k.putBackError(s)
	}
	return nil
}
