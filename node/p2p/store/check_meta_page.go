package store

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"

	"skep/node/p2p/store/sums"
)

// bbolt's root is in one of the first two pages: transactions write them in turn, and where one has a wrong checksum
// it takes the other. So a flipped bit in the newer one would take the last commit back without a word. A write that
// the loss of power tore cannot be the reason, as all of it lies in one sector. Layout: magic, version, page size,
// flags, root page and sequence, free list, pages in use, transaction; then FNV-1a of these, in the machine's order.
const metaPageSize = 64

// checkMetaPages checks both pages, and writes one back of which a flipped bit accounts for the damage. The caller has
// the file open in bbolt, which has found at least one of them sound and keeps other writers out.
func checkMetaPages(path string, page int) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := range int64(firstPage) {
		at := n*int64(page) + headSize
		b := make([]byte, metaPageSize)
		if _, err := f.ReadAt(b, at); err != nil {
			return fmt.Errorf("%w: page %d of %s: %w", ErrDamaged, n, File, err)
		}
		right := func() bool { return validMetaPage(b) }
		if right() {
			continue
		}
		if !sums.FlipBack(b, right) {
			return fmt.Errorf("%w: page %d of %s, which leads to the last commit or the one before, is not as it was "+
				"written: %s", ErrDamaged, n, File, remedy)
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func validMetaPage(b []byte) bool {
	h := fnv.New64a()
	h.Write(b[:metaPageSize-8])
	return bytes.Equal(native.AppendUint64(nil, h.Sum64()), b[metaPageSize-8:])
}
