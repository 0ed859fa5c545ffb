package retention

import "skep/grid"

// blobs counts who holds which files. A file is known by its content: jobs share them.
type blobs struct {
	index map[grid.BlobID]uint32 // places in list; never iterated
	list  []blob
	free  []uint32   // unused places
	bytes grid.Bytes // of the files that only jobs which are over hold
}

type blob struct {
	id         grid.BlobID
	size       grid.Bytes
	open, over int // references by jobs that go on, and by those that are over
}

func (b *blob) counts() bool { return b.open == 0 && b.over > 0 }

// hold adds a reference to each file, and appends their places to dst. The size of a file is what a job says that holds
// it: what one that goes on says of its inputs, which need not be here, is not proved.
func (s *blobs) hold(files []grid.File, over bool, dst []uint32) []uint32 {
	for i := range files {
		at, known := s.index[files[i].Blob]
		if !known {
			at = s.add(blob{id: files[i].Blob})
		}
		if b := &s.list[at]; over && b.over == 0 {
			b.size = max(files[i].Size, 0)
		}
		s.change(at, over, 1)
		dst = append(dst, at)
	}
	return dst
}

// release gives references back.
func (s *blobs) release(at []uint32, over bool) {
	for _, i := range at {
		if s.change(i, over, -1); s.list[i].open == 0 && s.list[i].over == 0 {
			delete(s.index, s.list[i].id)
			s.list[i] = blob{}
			s.free = append(s.free, i)
		}
	}
}

func (s *blobs) add(b blob) uint32 {
	if s.index == nil {
		s.index = make(map[grid.BlobID]uint32)
	}
	at := uint32(len(s.list))
	if k := len(s.free); k > 0 {
		at, s.free = s.free[k-1], s.free[:k-1]
		s.list[at] = b
	} else {
		s.list = append(grid.Room(s.list, 8), b)
	}
	s.index[b.id] = at
	return at
}

func (s *blobs) change(at uint32, over bool, by int) {
	b := &s.list[at]
	counted := b.counts()
	if over {
		b.over += by
	} else {
		b.open += by
	}
	if b.open < 0 || b.over < 0 {
		panic("retention: a file is released more often than held")
	}
	switch counts := b.counts(); {
	case counts && !counted:
		s.bytes += b.size
	case counted && !counts:
		s.bytes -= b.size
	}
}
