package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A flipped bit in either of the pages that lead to the last commit and to the one before is flipped back: else that in
// the newer one would take the last commit back, without a word.
func TestFlippedMetaPages(t *testing.T) {
	dir := t.TempDir()
	written := historied(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	for page := range firstPage {
		for _, at := range []int{0, 17, 48, metaPageSize - 1} { // magic, root, transaction, sum
			b := bytes.Clone(whole)
			at += page*os.Getpagesize() + headSize
			b[at] ^= 4
			folder := t.TempDir()
			if what, err := startDamaged(folder, map[string][]byte{File: b}, written); err != nil || what == "refused" {
				t.Errorf("byte %d of page %d: %s, %v; want the records that were written", at, page, what, err)
			}
			after, err := os.ReadFile(filepath.Join(folder, File))
			if err != nil {
				t.Fatal(err)
			}
			for n := range firstPage {
				if !validMetaPage(after[n*os.Getpagesize()+headSize:][:metaPageSize]) {
					t.Errorf("byte %d of page %d: page %d is not as it was written after two starts", at, page, n)
				}
			}
		}
	}
}
