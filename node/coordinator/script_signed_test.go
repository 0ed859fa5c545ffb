package coordinator_test

import (
	"crypto/ed25519"

	"skep/grid"
	"skep/node/chain"
)

// sign gives a node that has not started a key: it signs, and jobs that are signed may go to it.
func (m *member) sign() {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, m.name)
	key := ed25519.NewKeyFromSeed(seed)
	m.cfg.Signer, m.cfg.Self = chain.Key(key), grid.NodeID(key.Public().(ed25519.PublicKey))
	m.cfg.Labels = append(m.cfg.Labels, grid.Label{Key: grid.SignedLabel, Value: grid.FeatureValue})
}

// change says what is asked and answered of a change of members that is to be signed.
func (w *network) change(k grid.Kind, g *grid.RegisterMessage) string {
	switch {
	case g.Change == "":
		return ""
	case k == grid.KindWriteAck:
		return ", signs the change"
	}
	return ", asks to sign: " + w.name(grid.NodeID([]byte(g.Change[1:]))) + " for place " + string('0'+g.Change[0])
}
