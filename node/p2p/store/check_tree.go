package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bbolt rebuilds its list of free pages when it opens a file for writing, and checks the tree on a goroutine of its
// own. If that finds an error it ends the transaction from which the goroutine still reads, with undefined results.
// So the same is checked before: each page of the tree is in the file, is reached once and has the right type, and
// keys are in order.

// Layout of a page: id, flags, count, overflow; then elements, each with the offset of its key from its own
// beginning.
const (
	headSize             = 16
	elementSize          = 16
	branchPage, leafPage = 1, 2
	bucketElement        = 1
	leastBucket          = 16 // root page and sequence
	firstPage            = 2  // after two meta pages
)

var native = binary.NativeEndian

// treeCheck is a check of a mapped database file.
type treeCheck struct {
	file []byte
	page int    // size in bytes
	end  uint64 // pages in use
	seen map[uint64]bool
}

// checkTree checks the tree under a root page.
func checkTree(path string, page int, size int64, root uint64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	defer unix.Munmap(data)
	t := &treeCheck{file: data, page: page, end: uint64(size) / uint64(page), seen: make(map[uint64]bool)}
	return recoverPanic(func() error {
		_, err := t.walk(root, nil, nil)
		return err
	})
}

func (t *treeCheck) damaged(id uint64, what string) error {
	return fmt.Errorf("%w: page %d of %s %s", ErrDamaged, id, File, what)
}

// walk checks a page and the pages under it, whose keys must be from least on and below most (nil: no bound), and
// returns the largest key.
func (t *treeCheck) walk(id uint64, least, most []byte) ([]byte, error) {
	if id < firstPage || id >= t.end {
		return nil, t.damaged(id, "is not in the file")
	}
	head := t.file[int(id)*t.page:]
	flags, count, over := native.Uint16(head[8:]), int(native.Uint16(head[10:])), uint64(native.Uint32(head[12:]))
	if native.Uint64(head) != id || id+over >= t.end {
		return nil, t.damaged(id, "is not a page")
	}
	for n := id; n <= id+over; n++ {
		if t.seen[n] {
			return nil, t.damaged(n, "is used twice")
		}
		t.seen[n] = true
	}
	p := head[:int(over+1)*t.page]
	if flags != branchPage && flags != leafPage || headSize+count*elementSize > len(p) || flags == branchPage &&
		count == 0 {
		return nil, t.damaged(id, "is no page of the tree")
	}
	last := least
	for i := range count {
		key, value, err := t.element(p, flags, i)
		if err != nil {
			return nil, err
		}
		if c := bytes.Compare(key, last); c < 0 || c == 0 && i > 0 || most != nil && bytes.Compare(key, most) >= 0 {
			return nil, t.damaged(id, "has keys out of order")
		}
		last = key
		if flags == leafPage {
			err = t.bucket(p, i, value)
		} else {
			last, err = t.walk(native.Uint64(p[headSize+i*elementSize+8:]), key, t.next(p, i, count, most))
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// element returns the key of an element, and its value on a leaf.
func (t *treeCheck) element(p []byte, flags uint16, i int) (key, value []byte, err error) {
	at := headSize + i*elementSize
	e := p[at:]
	place, ksize, vsize := native.Uint32(e), native.Uint32(e[4:]), uint32(0)
	if flags == leafPage {
		place, ksize, vsize = native.Uint32(e[4:]), native.Uint32(e[8:]), native.Uint32(e[12:])
	}
	begin := uint64(at) + uint64(place)
	if begin+uint64(ksize)+uint64(vsize) > uint64(len(p)) {
		return nil, nil, t.damaged(native.Uint64(p), "has an entry that is not on it")
	}
	return e[place : place+ksize], e[place+ksize : place+ksize+vsize], nil
}

// next returns the bound of the keys under a branch's element: the next element's key.
func (t *treeCheck) next(p []byte, i, count int, most []byte) []byte {
	if i+1 < count {
		if key, _, err := t.element(p, branchPage, i+1); err == nil {
			return key
		}
	}
	return most
}

// bucket checks a bucket that is the value of a leaf's element; a small one is inline.
func (t *treeCheck) bucket(p []byte, i int, value []byte) error {
	if native.Uint32(p[headSize+i*elementSize:])&bucketElement == 0 {
		return nil
	}
	if len(value) < leastBucket {
		return t.damaged(native.Uint64(p), "has a bucket that is cut")
	}
	if root := native.Uint64(value); root != 0 {
		_, err := t.walk(root, nil, nil)
		return err
	}
	return t.inline(native.Uint64(p), value[leastBucket:])
}

// inline checks the page of an inline bucket, whose keys must be in order too, or none of them is found.
func (t *treeCheck) inline(id uint64, p []byte) error {
	if len(p) < headSize {
		return t.damaged(id, "has a bucket that is cut")
	}
	count, last := int(native.Uint16(p[10:])), []byte(nil)
	if native.Uint16(p[8:]) != leafPage || headSize+count*elementSize > len(p) {
		return t.damaged(id, "has a bucket that is none")
	}
	for i := range count {
		key, _, err := t.element(p, leafPage, i)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(key, last) <= 0 {
			return t.damaged(id, "has a bucket with keys out of order")
		}
		last = key
	}
	return nil
}
