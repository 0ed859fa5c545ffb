package codec

import (
	"bytes"
	"errors"
	"fmt"

	"skep/grid"
	"skep/node/p2p/store/sums"
	"skep/node/p2p/wire"
)

// ErrRotten is a record that its sums tell is not as it was written, and that nothing can take the place of: the start
// is refused.
var ErrRotten = errors.New("a record is not as it was written")

// Rot flips so many bits of a record on a disk, at those that draw gives, and returns how a start finds it: as it was
// written, or nil if it is dropped, since it is measured or written anew. It is ErrRotten if the start is refused.
// Another error says that the sums have told nothing.
func (c *Codec) Rot(r *grid.Record, bits int, draw func(n int) int) (*grid.Record, error) {
	save := *r
	save.Register.Spec, save.Work.Spec = unsealed(r.Register.Spec), unsealed(r.Work.Spec)
	key, value, err := wire.AppendRecord(nil, &save)
	if err != nil {
		return nil, fmt.Errorf("saves what it could not read: %w", err)
	}
	stored := sums.Append(nil, key, value)
	both := append(bytes.Clone(key), stored...)
	for range bits {
		at := draw(8 * len(both))
		both[at/8] ^= 1 << (at % 8)
	}
	verdict, k, v := sums.CheckRecord(both[:len(key):len(key)], both[len(key):])
	switch verdict {
	case sums.Sound, sums.Mended:
		if !bytes.Equal(k, key) || !bytes.Equal(v, stored) {
			return nil, fmt.Errorf("takes a record for sound in which %d bits were flipped", bits)
		}
		return r, nil
	case sums.Expendable:
		if r.Kind != grid.RecClass && r.Kind != grid.RecCheckpoint {
			return nil, fmt.Errorf("drops a record of kind %d", r.Kind)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%w: verdict %d", ErrRotten, verdict)
}
