package store

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/store/sums"
)

// digest is the number of entries of the table of records and the sum of what each adds (sums.SumOf), which does not
// depend on their order. Each transaction that changes the table writes it too. A page that has lost entries, or whole
// pages under it, may be in perfect order and each entry that is left sound; the digest does not match then.
type digest struct{ count, sum uint64 }

var digestKey = []byte("digest")

const (
	digestSize = 16
	metaSize   = 8 + 8 + len(grid.NodeID{}) + digestSize + 8 // format, boot, owner, digest, and the sum of all
)

// records is the table of records inside a transaction, with its digest.
type records struct {
	*bbolt.Bucket
	tx *bbolt.Tx
	digest
}

// openRecords returns the table. After changes save must follow.
func openRecords(tx *bbolt.Tx) *records {
	r := &records{Bucket: tx.Bucket(recordBucket), tx: tx}
	if v := tx.Bucket(metaBucket).Get(digestKey); len(v) == digestSize+8 {
		r.count, r.sum = binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
	}
	return r
}

// put writes a framed value.
func (r *records) put(key, stored []byte) error {
	r.without(key)
	r.count++
	r.sum += sums.SumOf(key, stored)
	return r.Put(key, stored)
}

func (r *records) remove(key []byte) error {
	r.without(key)
	return r.Delete(key)
}

// without takes an entry out of the digest, if it is there.
func (r *records) without(key []byte) {
	if old := r.Get(key); old != nil {
		r.count--
		r.sum -= sums.SumOf(key, old)
	}
}

// save writes the digest.
func (r *records) save() error { return saveMeta(r.tx, r.digest) }

// saveMeta writes a digest with the sum of it and of all else that is in the table meta.
func saveMeta(tx *bbolt.Tx, d digest) error {
	v := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, d.count), d.sum)
	all := append(metaOf(tx), v...)
	return tx.Bucket(metaBucket).Put(digestKey, binary.BigEndian.AppendUint64(v, xxhash.Sum64(all)))
}

// metaOf returns format, boot and owner, zeros for what is not there.
func metaOf(tx *bbolt.Tx) []byte {
	owner := ownerOf(tx)
	b := make([]byte, 0, metaSize)
	return append(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, formatOf(tx)), bootOf(tx)), owner[:]...)
}

// checkMeta checks the table meta, and returns it as it was written where one flipped bit accounts for the damage;
// nil if it is sound.
func checkMeta(tx *bbolt.Tx) (was []byte, err error) {
	all := append(metaOf(tx), tx.Bucket(metaBucket).Get(digestKey)...)
	right := func() bool {
		return len(all) == metaSize &&
			binary.BigEndian.Uint64(all[metaSize-8:]) == xxhash.Sum64(all[:metaSize-8])
	}
	if right() {
		return nil, nil
	}
	if len(all) == metaSize && sums.FlipBack(all, right) {
		if n := binary.BigEndian.Uint64(all); n >= sumFormat && n <= format {
			return all, nil
		}
	}
	return nil, fmt.Errorf("%w: the table of %s that says how often the node was started and how many records it has "+
		"is not as it was written: %s", ErrDamaged, File, remedy)
}

// restoreMeta writes what checkMeta returned.
func restoreMeta(tx *bbolt.Tx, was []byte) error {
	meta := tx.Bucket(metaBucket)
	was = slices.Clone(was)
	owner := was[16 : 16+len(grid.NodeID{})]
	for _, p := range []struct{ key, value []byte }{
		{formatKey, was[:8]}, {bootKey, was[8:16]}, {ownerKey, owner}, {digestKey, was[16+len(owner):]}} {
		if err := meta.Put(p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}
