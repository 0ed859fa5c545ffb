package event

// rung is a row of buckets of equal width. The first also holds events before start, the last those beyond its width,
// so that together they cover [lo, hi).
type rung struct {
	lo, hi  uint64 // lo rises as buckets are taken
	start   uint64 // of the first bucket
	width   uint64
	cur     int // next bucket to take
	buckets []list
}

// bucket returns the bucket of time k, which is not before lo.
func (r *rung) bucket(k uint64) *list {
	i := uint64(0)
	if k > r.start {
		i = min((k-r.start)/r.width, uint64(len(r.buckets)-1))
	}
	return &r.buckets[i]
}

// next takes the first bucket that is not empty, and returns the time from which events belonged to it.
func (r *rung) next() (lo uint64, bucket list, ok bool) {
	for r.cur < len(r.buckets) {
		lo, bucket = r.lo, r.buckets[r.cur]
		r.cur++
		r.lo = min(r.start+uint64(r.cur)*r.width, r.hi)
		if r.cur == len(r.buckets) {
			r.lo = r.hi
		}
		if bucket.n > 0 {
			return lo, bucket, true
		}
	}
	return 0, list{}, false
}

// list is a chain of pieces; its zero value is empty.
type list struct{ first, last, n int32 }

// pieceLen is the number of events in a piece: a bucket of a new rung (perBucket) has room to grow.
const pieceLen = 16

// piece holds some events of a list. All pieces of a list but its last are full, so that the list's length determines
// where the next event goes, and adding one touches one line of the piece.
type piece struct {
	ev   [pieceLen]Event
	next int32
}

// pieces is the memory of all lists: pages of pieces, named from 1, which are reused.
type pieces struct {
	pages [][]piece
	free  int32 // free list
}

const pageBits = 8 // of a piece's name: its place in its page

func (p *pieces) at(i int32) *piece { return &p.pages[i>>pageBits][i&(1<<pageBits-1)] }

// put adds a copy of e at the end of l.
func (p *pieces) put(l *list, e *Event) {
	if l.n%pieceLen == 0 {
		i := p.take()
		if l.n == 0 {
			l.first = i
		} else {
			p.at(l.last).next = i
		}
		l.last = i
	}
	p.at(l.last).ev[l.n%pieceLen] = *e
	l.n++
}

// take returns an empty piece.
func (p *pieces) take() int32 {
	if p.free == 0 {
		page := make([]piece, 1<<pageBits)
		p.pages = append(p.pages, page)
		base := int32(len(p.pages)-1) << pageBits
		for i := range page {
			if base+int32(i) != 0 { // 0 names no piece
				page[i].next, p.free = p.free, base+int32(i)
			}
		}
	}
	i := p.free
	c := p.at(i)
	p.free = c.next
	c.next = 0
	return i
}

// drain calls f for each event of l in order and frees the pieces. A piece is freed after its events were passed to f,
// so f may take new ones.
func (p *pieces) drain(l list, f func(*Event)) {
	for i := l.first; l.n > 0; l.n -= pieceLen {
		c := p.at(i)
		for j := range c.ev[:min(l.n, pieceLen)] {
			f(&c.ev[j])
		}
		next := c.next
		c.next, p.free = p.free, i
		i = next
	}
}

// span returns the first and the last time in l, which is not empty.
func (p *pieces) span(l list) (first, last uint64) {
	first = uint64(p.at(l.first).ev[0].At)
	last = first
	for i := l.first; l.n > 0; l.n -= pieceLen {
		c := p.at(i)
		for j := range c.ev[:min(l.n, pieceLen)] {
			k := uint64(c.ev[j].At)
			first, last = min(first, k), max(last, k)
		}
		i = c.next
	}
	return first, last
}
